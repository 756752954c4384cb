import { glue } from '/glue.js'

// A page has no file system. Because of this error code, fuzz targets skip the seeds that are stored in files.
const missing = Object.assign(new Error('a page has no files'), { code: 'ENOENT' })

// Runs the test binary in this page for gotest.mjs, which prints its output.
globalThis.run = async (argv, env) => {
  const decoder = new TextDecoder()
  let printing = Promise.resolve()
  globalThis.fs.writeSync = (fd, bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    printing = printing.then(() => globalThis.printed(text))
    return bytes.length
  }
  globalThis.fs.constants.O_DIRECTORY = 1 << 16 // Go reads this constant when it opens a directory
  globalThis.fs.open = (path, flags, mode, callback) => callback(missing)
  const go = new Go()
  go.argv = argv
  go.env = env
  go.exit = (code) => printing.then(() => globalThis.exited(code))
  glue(go)
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/test.wasm'), go.importObject)
  await go.run(instance)
}
