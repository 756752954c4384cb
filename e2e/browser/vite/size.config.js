import { defineConfig } from 'vite'

// Builds a page that contains only the package, so that a test can measure its size.
export default defineConfig({ build: { outDir: 'weighed', rollupOptions: { input: 'size.js' } } })
