import { defineConfig } from 'vite'

// A page that uses the package and nothing else, to be weighed.
export default defineConfig({ build: { outDir: 'weighed', rollupOptions: { input: 'size.js' } } })
