import { defineConfig } from 'vite'

// The page reaches the API server at the URL $SERVER under its own origin. The package must also work under this policy.
const proxy = { '/k8s': { target: process.env.SERVER, rewrite: (path) => path.slice('/k8s'.length) } }

export default defineConfig({
  server: { proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" } },
})
