import {
  replayCreateSchema,
  replayDecisionSchema,
  replayDryRunSchema,
  replayFileSchema,
  replayItemsQuery,
  replayListQuery,
  replayListSchema,
  replaySchema,
} from './replays.ts'
import type { Route } from './route.ts'

const read = { method: 'GET', access: ['read'], shed: 'first' } as const
const decideReplay = {
  method: 'POST',
  access: ['operate'],
  shed: 'first',
  body: replayDecisionSchema,
  bodyOptional: true,
  answers: { 200: replaySchema },
} as const

/** The calls about replays. */
export const replayRoutes = {
  createReplay: {
    method: 'POST',
    path: '/v1/replays',
    access: ['operate'],
    shed: 'first',
    summary: 'Run records again on purpose, each in a generation of its own; dry_run counts them first',
    body: replayCreateSchema,
    answers: { 200: replayDryRunSchema, 202: replaySchema },
  },
  listReplays: {
    ...read,
    path: '/v1/replays',
    summary: 'Replays, newest first',
    query: replayListQuery,
    answers: { 200: replayListSchema },
  },
  getReplay: {
    ...read,
    path: '/v1/replays/{id}',
    summary: 'One replay, and what became of each of its records',
    query: replayItemsQuery,
    answers: { 200: replayFileSchema },
  },
  approveReplay: { ...decideReplay, path: '/v1/replays/{id}/approve', summary: 'Approve it, as a second person' },
  pauseReplay: { ...decideReplay, path: '/v1/replays/{id}/pause', summary: 'Arm no further records for now' },
  resumeReplay: { ...decideReplay, path: '/v1/replays/{id}/resume', summary: 'Go on where it was paused or failed' },
  cancelReplay: {
    ...decideReplay,
    path: '/v1/replays/{id}/cancel',
    summary: 'End it, and put back what nobody has taken up',
  },
} as const satisfies Record<string, Route>
