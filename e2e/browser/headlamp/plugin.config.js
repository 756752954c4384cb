// Builds plugin.ts as headlamp-plugin does.
export default {
  build: {
    outDir: 'public/plugins/pods',
    lib: { entry: 'plugin.ts', name: 'main', formats: ['umd'] },
    rollupOptions: {
      external: ['react', '@kinvolk/headlamp-plugin/lib'],
      output: { entryFileNames: 'main.js', globals: { react: 'pluginLib.React', '@kinvolk/headlamp-plugin/lib': 'pluginLib' } },
    },
  },
}
