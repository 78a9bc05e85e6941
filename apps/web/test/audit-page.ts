import axe from 'axe-core'
import type { Page } from 'playwright-core'

type Finding = { id: string; impact?: string | null; nodes: { html: string; failureSummary?: string }[] }

/** What axe finds on the page as it stands, WCAG 2.2 AA and good practice, each finding as a line. */
export async function auditPage(page: Page): Promise<string[]> {
  // The page's policy lets no other script in; what the browser is told to evaluate is not the page's.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()')
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${impact} ${id}: ${node.html} ${node.failureSummary ?? ''}`),
  )
}

/** How far the page reaches beyond the right edge of its window, in px. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}
