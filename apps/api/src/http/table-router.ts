import type { Result, Router } from 'hono/router'
import { matchTemplate, type PathTemplate, pathTemplate } from './path-template.ts'

/**
 * Hono's router for the contract's paths: those without parameters, the hottest among them, are found by name alone; the
 * few others are tried one after the other. Takes what the contract holds: one handler per method and path, no patterns.
 */
export function tableRouter<T>(): Router<T> {
  const exact = new Map<string, Map<string, Result<T>>>()
  const templates = new Map<string, { template: PathTemplate; handler: T }[]>()
  const nothing: Result<T> = [[]]
  return {
    name: 'TableRouter',
    add(method, path, handler) {
      if (path.includes('{')) {
        const others = templates.get(method) ?? []
        templates.set(method, [...others, { template: pathTemplate(path), handler }])
      } else {
        const others = exact.get(method) ?? new Map<string, Result<T>>()
        exact.set(method, others.set(path, [[[handler, {}]]]))
      }
    },
    match(method, path) {
      const found = exact.get(method)?.get(path)
      if (found !== undefined) return found
      const segments = path.split('/')
      for (const { template, handler } of templates.get(method) ?? []) {
        const params = matchTemplate(template, segments)
        if (params !== null) return [[[handler, params]]]
      }
      return nothing
    },
  }
}
