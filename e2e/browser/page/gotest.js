import { glue } from '/glue.js'

// With this error code, fuzz targets skip the seeds in files. A page has no file system.
const missing = Object.assign(new Error('a page has no file system'), { code: 'ENOENT' })

// Runs the test binary. gotest.mjs defines the functions printed() and exited(). They are asynchronous, so each call waits for
// the previous one, which keeps the output in order and complete.
globalThis.run = async (argv, env) => {
  const decoder = new TextDecoder()
  let printing = Promise.resolve()
  globalThis.fs.writeSync = (fd, bytes) => { // receives stdout and stderr
    const text = decoder.decode(bytes, { stream: true })
    printing = printing.then(() => globalThis.printed(text))
    return bytes.length
  }
  globalThis.fs.constants.O_DIRECTORY = 1 << 16 // Go needs this constant to open a directory
  globalThis.fs.open = (path, flags, mode, callback) => callback(missing)
  const go = new Go()
  go.argv = argv
  go.env = env
  go.exit = (code) => printing.then(() => globalThis.exited(code))
  glue(go)
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/test.wasm'), go.importObject)
  await go.run(instance)
}
