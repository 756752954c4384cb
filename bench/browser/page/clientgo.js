// Runs an informer of client-go as WebAssembly, with Go's wasm_exec.js.

const base = new URL('/clientgo/', location.href)

export const load = () => import(/* @vite-ignore */ new URL('wasm_exec.js', base).href)

/** Runs the WASM module on this thread. */
export async function clientgo(server, seen) {
  const go = new globalThis.Go()
  const { instance } = await WebAssembly.instantiateStreaming(fetch(new URL('clientgo.wasm', base)), go.importObject)
  go.run(instance)
  return new Promise((resolve) => {
    globalThis.followPods(server, (size, touch) => resolve({ size, touch }), seen)
  })
}
