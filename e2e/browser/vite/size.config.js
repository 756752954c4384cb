import { defineConfig } from 'vite'

// Vite adds code that preloads the imports of a chunk. It is not a part of the package, so it does not count.
const HELPER = /vite\/preload-helper/
const withoutPreload = { name: 'without-preload', enforce: 'pre', resolveId: (id) => (HELPER.test(id) ? id : undefined), load: (id) => (HELPER.test(id) ? 'export const __vitePreload = (load) => load()' : undefined) }

// Builds a page that uses only the package and its React hooks, to measure its size without React.
export default defineConfig({ plugins: [withoutPreload], build: { outDir: 'weighed', rollupOptions: { input: 'size.js', external: ['react'] } } })
