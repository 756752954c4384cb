import { defineConfig } from 'vite'

// Builds a page that uses only the package, to measure its size.
export default defineConfig({ build: { outDir: 'weighed', rollupOptions: { input: 'size.js' } } })
