import { glue } from '/glue.js'

// What a page says of any file: so the seeds of fuzz targets that lie in files are left out.
const missing = Object.assign(new Error('a page has no files'), { code: 'ENOENT' })

// The test binary of gotest.mjs, run in this page. What it prints goes to the process that started it.
globalThis.run = async (argv, env) => {
  const decoder = new TextDecoder()
  let printing = Promise.resolve()
  globalThis.fs.writeSync = (fd, bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    printing = printing.then(() => globalThis.printed(text))
    return bytes.length
  }
  globalThis.fs.constants.O_DIRECTORY = 1 << 16 // else none can be asked for
  globalThis.fs.open = (path, flags, mode, callback) => callback(missing)
  const go = new Go()
  go.argv = argv
  go.env = env
  go.exit = (code) => printing.then(() => globalThis.exited(code))
  glue(go)
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/test.wasm'), go.importObject)
  await go.run(instance)
}
