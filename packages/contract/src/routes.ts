import { z } from 'zod'
import { apiKeyCreatedSchema, apiKeyCreateSchema, apiKeyListQuery, apiKeyListSchema, meSchema } from './api-keys.ts'
import { attentionSchema } from './attention.ts'
import { claimBatchRequestSchema, claimRequestSchema } from './claim.ts'
import {
  classDeleteQuery,
  classHistorySchema,
  classListQuery,
  classListSchema,
  classPutSchema,
  classReviewSchema,
  classSchema,
} from './classes.ts'
import { claimBatchResponseSchema, decisionSchema } from './decision.ts'
import { livenessSchema, readinessSchema } from './health.ts'
import { lookupQuery, lookupResponseSchema } from './lookup.ts'
import { presetListSchema } from './presets.ts'
import { recordSchema } from './record.ts'
import { fullRecordSchema, recordListQuery, recordListSchema } from './records.ts'
import { replayRoutes } from './replay-routes.ts'
import { resolveRequestSchema } from './resolve.ts'
import { policyPreviewSchema, retentionListQuery, retentionListSchema } from './retention.ts'
import type { Route } from './route.ts'
import {
  completeRequestSchema,
  extendRequestSchema,
  failRequestSchema,
  leaseSchema,
  releaseRequestSchema,
  settlementsRequestSchema,
  settlementsResponseSchema,
} from './settle.ts'
import { actions } from './states.ts'
import { statsQuery, statsSchema } from './stats.ts'

const settle = { method: 'POST', access: ['claim'], shed: 'last' } as const
const read = { method: 'GET', access: ['read'], shed: 'first' } as const
const admin = { access: ['admin'], shed: 'first' } as const
const open = { method: 'GET', access: 'open', shed: 'never' } as const

/** Every call that the API serves. */
export const routes = {
  claim: {
    method: 'POST',
    path: '/v1/claims',
    access: ['claim'],
    shed: 'claims',
    summary: 'Claim a key: 201 run it, 200 it already ran, anything else do not run',
    body: claimRequestSchema,
    answers: {
      201: decisionSchema,
      200: decisionSchema,
      409: decisionSchema,
      410: decisionSchema,
      422: decisionSchema,
      423: decisionSchema,
    },
  },
  claimBatch: {
    method: 'POST',
    path: '/v1/claims/batch',
    access: ['claim'],
    shed: 'claims',
    summary: 'Claim up to 1 000 keys; each is answered by itself, in order',
    body: claimBatchRequestSchema,
    answers: { 200: claimBatchResponseSchema },
  },
  complete: {
    ...settle,
    path: '/v1/claims/{id}/complete',
    summary: 'The effect ran; redeliveries get the result',
    body: completeRequestSchema,
    answers: { 200: recordSchema },
  },
  fail: {
    ...settle,
    path: '/v1/claims/{id}/fail',
    summary: 'The attempt failed; it may be retried later, or never',
    body: failRequestSchema,
    answers: { 200: recordSchema },
  },
  extend: {
    ...settle,
    path: '/v1/claims/{id}/extend',
    summary: 'Still at work: lengthen the lease',
    body: extendRequestSchema,
    answers: { 200: leaseSchema },
  },
  release: {
    ...settle,
    path: '/v1/claims/{id}/release',
    summary: 'Give an unstarted claim back; the attempt is not counted',
    body: releaseRequestSchema,
    answers: { 200: recordSchema },
  },
  settlements: {
    ...settle,
    path: '/v1/settlements',
    summary: 'Complete, fail, extend and release up to 1 000 claims; each is answered by itself, in order',
    body: settlementsRequestSchema,
    answers: { 200: settlementsResponseSchema },
  },

  lookup: {
    ...read,
    path: '/v1/lookup',
    access: ['read', 'claim'],
    summary: 'Did this ever run?',
    query: lookupQuery,
    answers: { 200: lookupResponseSchema },
  },
  listRecords: {
    ...read,
    path: '/v1/records',
    summary: 'Records, newest first',
    query: recordListQuery,
    answers: { 200: recordListSchema },
  },
  getRecord: {
    ...read,
    path: '/v1/records/{id}',
    access: ['read', 'claim'],
    summary: 'One record with everything kept about it',
    answers: { 200: fullRecordSchema },
  },
  resolveRecord: {
    method: 'POST',
    path: '/v1/records/{id}/resolve',
    access: ['operate'],
    shed: 'first',
    summary: 'Decide what became of a record',
    body: resolveRequestSchema,
    answers: { 200: recordSchema },
  },

  ...replayRoutes,

  listClasses: {
    ...read,
    path: '/v1/classes',
    summary: 'Classes seen in claims, and policies',
    query: classListQuery,
    answers: { 200: classListSchema },
  },
  getClass: {
    ...read,
    versioned: true,
    path: '/v1/classes/{name}',
    summary: 'The policy in force for a class',
    answers: { 200: classSchema },
  },
  putClass: {
    ...admin,
    versioned: true,
    method: 'PUT',
    path: '/v1/classes/{name}',
    summary: 'Write the whole policy of a class; with If-Match only over that version',
    body: classPutSchema,
    answers: { 200: classSchema, 201: classSchema },
  },
  deleteClass: {
    ...admin,
    versioned: true,
    method: 'DELETE',
    path: '/v1/classes/{name}',
    summary: 'Delete a class’s own policy; the next best match is in force then',
    query: classDeleteQuery,
    answers: { 204: null },
  },
  classHistory: {
    ...read,
    path: '/v1/classes/{name}/history',
    summary: 'Every change of a policy, newest first',
    query: classListQuery,
    answers: { 200: classHistorySchema },
  },
  previewClass: {
    method: 'POST',
    path: '/v1/classes/{name}/preview',
    access: ['read'],
    shed: 'first',
    summary: 'What a policy would erase, forget and move; changes nothing',
    body: classPutSchema,
    answers: { 200: policyPreviewSchema },
  },
  reviewClass: {
    ...admin,
    versioned: true,
    bodyOptional: true,
    method: 'POST',
    path: '/v1/classes/{name}/review',
    summary: 'Mark a class as reviewed',
    body: classReviewSchema,
    answers: { 200: classSchema },
  },

  listPresets: {
    ...read,
    path: '/v1/presets',
    summary: 'Sources of events, and for how long each may redeliver',
    answers: { 200: presetListSchema },
  },
  listRetention: {
    ...read,
    path: '/v1/retention',
    summary: 'What retention did to each class, and what is due',
    query: retentionListQuery,
    answers: { 200: retentionListSchema },
  },

  attention: {
    ...read,
    path: '/v1/attention',
    summary: 'What a person should look at',
    answers: { 200: attentionSchema },
  },
  stats: {
    ...read,
    path: '/v1/stats',
    summary: 'Claims, duplicates and what became of them, step by step',
    query: statsQuery,
    answers: { 200: statsSchema },
  },

  listApiKeys: {
    ...admin,
    method: 'GET',
    path: '/v1/api-keys',
    summary: 'API keys, without their secrets',
    query: apiKeyListQuery,
    answers: { 200: apiKeyListSchema },
  },
  createApiKey: {
    ...admin,
    method: 'POST',
    path: '/v1/api-keys',
    summary: 'Make an API key; its secret is shown once',
    body: apiKeyCreateSchema,
    answers: { 201: apiKeyCreatedSchema },
  },
  revokeApiKey: {
    ...admin,
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    summary: 'Revoke an API key, everywhere within a second',
    answers: { 204: null },
  },

  me: {
    ...read,
    path: '/v1/me',
    access: actions,
    summary: 'Who is calling, and what it may do',
    answers: { 200: meSchema },
  },
  metrics: { ...read, path: '/metrics', summary: 'Metrics for Prometheus', answers: { 200: 'text/plain' } },
  healthz: { ...open, path: '/healthz', summary: 'Is the process alive?', answers: { 200: livenessSchema } },
  readyz: {
    ...open,
    path: '/readyz',
    summary: 'Can it serve? Postgres reached, migrations done, not shutting down',
    answers: { 200: readinessSchema, 503: readinessSchema },
  },
  openapi: {
    ...open,
    path: '/openapi.json',
    summary: 'This contract as OpenAPI 3.1',
    answers: { 200: z.looseObject({}) },
  },
} as const satisfies Record<string, Route>
