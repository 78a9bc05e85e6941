import { errorCodes } from '@ranbook/contract'
import { StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { problemOfError } from '../../src/http/problem-of-error.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

test('a store’s message is never passed on, its advice is', () => {
  const refused = (advice?: string) =>
    problemOfError(
      new StoreError('overloaded', 'SELECT secret', advice === undefined ? {} : { advice }),
      silent,
      '/v1/records',
      'request-1',
    )
  expect(refused()).toMatchObject({ code: 'overloaded', detail: errorCodes.overloaded.meaning })
  expect(refused('Ask for less.')).toMatchObject({ code: 'overloaded', detail: 'Ask for less.' })
})
