// oidc.mjs replaces the package oidc-client-ts, which a recipe imports.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { alias: { 'oidc-client-ts': new URL('oidc.mjs', import.meta.url).pathname } },
  test: { environment: 'happy-dom', include: ['*.vitest.mjs'], testTimeout: 60_000 },
})
