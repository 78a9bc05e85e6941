import { serviceUrl } from '../../address/service-url.ts'

const command = `curl -sS ${serviceUrl}/v1/claims \\
  -H "Authorization: Bearer $RANBOOK_KEY" -H 'Content-Type: application/json' \\
  -d '{"class": "refund.issued", "consumer": "billing-worker", "key": "order:88:refund"}'`

/** What to do where nothing was claimed yet. */
export function FirstClaim() {
  return (
    <>
      <p>Nothing was claimed yet. Make the first claim, twice: the second answer says who runs it.</p>
      <pre>{command}</pre>
    </>
  )
}
