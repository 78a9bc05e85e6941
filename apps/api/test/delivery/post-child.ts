// Posts to the URLs that are its arguments and tells its parent what came of it.
import { type PostOutcome, postSigned } from '../../src/delivery/post-signed.ts'
import { createTargetRules } from '../../src/delivery/target-rules.ts'

const deps = {
  rules: createTargetRules(null),
  now: Date.now,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
}
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const outcomes: PostOutcome[] = []
for (const url of process.argv.slice(2)) {
  const post = { url, secret, id: 'msg_1', contentType: 'application/json', body: '{}', headers: {} }
  outcomes.push(await postSigned(deps, post))
}
process.send?.(outcomes)
