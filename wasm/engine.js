// The program, loaded, and the commands that it is given.

import { glue } from './glue.js'
import { makeGo } from './go.js'
import { ListWatchError } from './error.js'
import { Slots } from './slots.js'

export class Engine {
  #commands = []
  #idle // takes the next command, if the program waits for one
  #sinks = new Map() // by the collection's number
  #last = 0
  #slots = new Slots()
  #gone // why there is no program any more

  /** Loads the program, which is named as in InitOptions. */
  static async load(wasm) {
    const engine = new Engine()
    const go = new (makeGo())()
    glue(go, engine)
    let instance
    try {
      instance = await instantiate(wasm ?? new URL('./listwatch.wasm', import.meta.url), go.importObject)
    } catch (cause) {
      throw new ListWatchError('load', `listwatch: the program could not be loaded: ${cause.message}`, { cause })
    }
    go.run(instance).then(() => engine.end())
    return engine
  }

  /**
   * Follows a collection. `sink` has `records(bytes)`, which must not keep the bytes, `failed(error)`, `token()`, if there is
   * one, and `kept`, if `spec.restored`.
   */
  start(spec, sink) {
    const id = ++this.#last
    if (this.#gone) sink.failed(this.#gone)
    this.#sinks.set(id, sink)
    const endpoint = { ...spec.endpoint, token: sink.token ? String(id) : '' }
    this.#command({ do: 'start', id, ...spec, endpoint })
    return id
  }

  stop(id) {
    this.#sinks.delete(id)
    this.#command({ do: 'stop', id })
  }

  /** Makes all collections look at once whether their connections live. */
  wake() {
    this.#command({ do: 'wake' })
  }

  #command(command) {
    const text = JSON.stringify(command)
    if (!this.#idle) return this.#commands.push(text)
    this.#idle(text)
    this.#idle = undefined
  }

  // Called by the program, through the glue.

  ask = (question, closed) => {
    const [what, id] = question.split(' ')
    switch (what) {
      case 'slot':
      case 'turn':
        return this.#slots.take(id, what === 'turn', closed)
      case 'token':
        return this.#sinks.get(Number(id))?.token() ?? ''
      case 'kept':
        return this.#sinks.get(Number(id))?.kept ?? new Uint8Array(0)
    }
    return this.#commands.shift() ?? new Promise((resolve) => { this.#idle = resolve })
  }

  emit = (id, bytes) => this.#sinks.get(id)?.records(bytes)

  /** What the end of the program means, which waits for commands for ever. */
  end() {
    this.#gone = new ListWatchError('load', 'listwatch: the program ended, which it must not')
    for (const sink of this.#sinks.values()) sink.failed(this.#gone)
    this.#sinks.clear()
  }
}

async function instantiate(wasm, imports) {
  if (wasm instanceof WebAssembly.Module) return WebAssembly.instantiate(wasm, imports)
  if (ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) return (await WebAssembly.instantiate(wasm, imports)).instance
  const response = await (typeof wasm === 'string' || wasm instanceof URL ? open(new URL(wasm, globalThis.location)) : wasm)
  if (!(response instanceof Response)) throw new Error('wasm must be a URL, a Response, bytes or a module')
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`)
  if (/^application\/wasm\b/.test(response.headers.get('Content-Type') ?? '')) {
    return (await WebAssembly.instantiateStreaming(response, imports)).instance
  }
  // Served under another type, it cannot be compiled while it comes.
  return (await WebAssembly.instantiate(await response.arrayBuffer(), imports)).instance
}

function open(url) {
  if (url.protocol !== 'file:') return fetch(url)
  const fs = globalThis.process.getBuiltinModule('node:fs') // not by import, which bundlers would follow
  return new Response(fs.readFileSync(url), { headers: { 'Content-Type': 'application/wasm' } })
}
