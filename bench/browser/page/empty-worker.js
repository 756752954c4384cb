// Is the SharedWorker of empty.js. It receives the URL of the empty Go program, starts it, and answers when it runs.
import { glue } from 'listwatch/glue'
import { makeGo } from './node_modules/listwatch/go.js'

globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = async ({ data }) => {
    const module = await WebAssembly.compileStreaming(fetch(data))
    const go = new (makeGo())()
    glue(go)
    go.run(await WebAssembly.instantiate(module, go.importObject))
    port.postMessage('running')
  }
}
