import { expect, test } from 'vitest'
import { errorCodes } from '../src/error-codes.ts'
import type { Route } from '../src/route.ts'
import { routes } from '../src/routes.ts'
import { actions, outcomeStatus, outcomes } from '../src/states.ts'

const all = Object.values<Route>(routes)

test('no two routes share method and path', () => {
  const names = all.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
  expect(new Set(names).size).toBe(names.length)
})

test('what is not open names actions that exist, and only GET is open', () => {
  for (const { method, access } of all) {
    if (access === 'open') expect(method).toBe('GET')
    else expect(actions).toEqual(expect.arrayContaining([...access]))
  }
})

test('a route that changes something takes a body or names its object in the path', () => {
  for (const { method, path, body } of all) {
    if (method === 'POST' || method === 'PUT') expect([path, body !== undefined]).toEqual([path, true])
    if (method === 'DELETE') expect(path).toMatch(/\{\w+\}$/)
    if (method === 'GET') expect(body).toBeUndefined()
  }
})

test('the claim route answers with the status of every outcome: 201 run it, 200 acknowledge, anything else do not run', () => {
  const answered = Object.keys(routes.claim.answers).map(Number)
  expect(new Set(answered)).toEqual(new Set(Object.values(outcomeStatus)))
  for (const outcome of outcomes) {
    const runs = outcome === 'claimed'
    const acknowledged = outcome === 'duplicate' || outcome === 'superseded'
    expect(outcomeStatus[outcome] === 201).toBe(runs)
    expect(outcomeStatus[outcome] === 200).toBe(acknowledged)
    if (!runs && !acknowledged) expect(outcomeStatus[outcome]).toBeGreaterThanOrEqual(400)
  }
})

test('every error code has an error’s status, a title and a sentence that says what to do', () => {
  for (const [code, { status, title, meaning }] of Object.entries(errorCodes)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(title).not.toMatch(/\.$/)
    expect(meaning).toMatch(/\.$/)
  }
})
