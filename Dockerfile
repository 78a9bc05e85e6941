# The API and its page. No database inside: give it DATABASE_URL, as docker-compose.yml does.
FROM node:20-bookworm-slim AS manifests
WORKDIR /app
# Manifests before sources: they change less often, so the layers with the packages are kept.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages/contract/package.json packages/contract/
COPY packages/rules/package.json packages/rules/
COPY packages/sdk/package.json packages/sdk/
COPY apps/api/package.json apps/api/
COPY apps/web/package.json apps/web/

FROM manifests AS build
RUN npx -y pnpm@10.34.9 install --frozen-lockfile
COPY tsconfig.base.json tsconfig.build.json ./
COPY packages packages
COPY apps apps
RUN node node_modules/typescript/bin/tsc -b tsconfig.build.json \
 && cd apps/web && node node_modules/vite/bin/vite.js build --logLevel warn

# Only what the server loads; the optional packages are the embedded database.
FROM manifests AS packages
RUN npx -y pnpm@10.34.9 install --frozen-lockfile --prod --no-optional --filter '@ranbook/api...'

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=packages /app ./
COPY --from=build /app/packages/contract/dist packages/contract/dist
COPY --from=build /app/packages/rules/dist packages/rules/dist
COPY --from=build /app/apps/api/dist apps/api/dist
COPY --from=build /app/apps/web/dist apps/web/dist
COPY drizzle drizzle
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/api/dist/main.js"]
