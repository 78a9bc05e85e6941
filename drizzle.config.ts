import { defineConfig } from 'drizzle-kit'

/** Where `npm run migrations` finds the tables and puts the SQL. It needs no database. */
export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './apps/api/src/stores/postgres/schema.ts',
    './apps/api/src/stores/postgres/window-schema.ts',
    './apps/api/src/stores/postgres/replay-schema.ts',
  ],
  out: './drizzle',
})
