// The source of the WASM module: a URL, a Response, bytes or a compiled module.

/** Advice for load errors: a bundler may have separated this package from its worker and its WASM module. */
export const BUNDLERS = 'If you use a bundler, it may need init({ worker, wasm }): https://github.com/seed-6d2a410a/listwatch/tree/main/wasm#bundlers'

/** A function, because the URL cannot be resolved in a worker that was started from a blob, which receives it from the page. */
export const wasmURL = () => new URL('./listwatch.wasm', import.meta.url)

/** @type {(wasm: unknown) => wasm is BufferSource} */
export const isBytes = (wasm) => ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer

/**
 * Returns the content of the file if this is Node and the URL is a file's, because Node's fetch cannot read files. Otherwise it
 * returns the URL.
 * @param {string} url an absolute URL
 */
export const fileOrURL = (url) => {
  // An import of node:fs would make bundlers try to resolve it.
  const fs = url.startsWith('file:') && globalThis.process?.getBuiltinModule('node:fs')
  return fs ? fs.readFileSync(new URL(url)) : url
}
