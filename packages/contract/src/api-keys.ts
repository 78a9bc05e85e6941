import { z } from 'zod'
import { pageFields, pageOf } from './page.ts'
import { actions } from './states.ts'
import { nameField, timeField } from './text-fields.ts'

/** What a key may do: each action on each class of the patterns, for one consumer or (without `consumer`) for all. */
export const scopesField = z.strictObject({
  actions: z.array(z.enum(actions)).min(1).max(actions.length),
  classes: z.array(nameField).min(1).max(100),
  consumer: nameField.nullable().optional(),
})
export type ScopesInput = z.output<typeof scopesField>

/** `POST /v1/api-keys` */
export const apiKeyCreateSchema = z.strictObject({
  name: nameField,
  scopes: scopesField,
  expires_at: timeField.nullable().optional(),
})
export type ApiKeyCreate = z.output<typeof apiKeyCreateSchema>

/** `GET /v1/api-keys` */
export const apiKeyListQuery = z.strictObject(pageFields)

/** A key without its secret. */
export const apiKeySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  scopes: z.strictObject({
    actions: z.array(z.enum(actions)),
    classes: z.array(z.string()),
    consumer: z.string().nullable(),
  }),
  created_at: timeField,
  created_by: z.string(),
  expires_at: timeField.nullable(),
  last_used_at: timeField.nullable().meta({ description: 'To the minute or so.' }),
  revoked_at: timeField.nullable(),
})
export type ApiKeyDocument = z.infer<typeof apiKeySchema>

/** Answer to `POST /v1/api-keys`: the only one that ever holds the secret. */
export const apiKeyCreatedSchema = apiKeySchema.extend({
  secret: z.string().meta({ description: 'The whole key, for `Authorization: Bearer`. It is shown this once.' }),
})

/** Answer to `GET /v1/api-keys`, newest first. */
export const apiKeyListSchema = pageOf(apiKeySchema)

/** Answer to `GET /v1/me` */
export const meSchema = z.strictObject({
  actor: z.string(),
  name: z.string(),
  actions: z.array(z.enum(actions)),
  classes: z.array(z.string()),
  consumer: z.string().nullable(),
})
export type Me = z.infer<typeof meSchema>
