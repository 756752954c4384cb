import { defineConfig } from 'vite'

// Builds a page that uses only the package and its React hooks, to measure its size without React.
export default defineConfig({ build: { outDir: 'weighed', rollupOptions: { input: 'size.js', external: ['react'] } } })
