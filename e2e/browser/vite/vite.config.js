import { defineConfig } from 'vite'

const proxy = { '/k8s': { target: process.env.SERVER, rewrite: (path) => path.slice('/k8s'.length) } }

export default defineConfig({
  server: { proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" } },
})
