// Starts the test server of internal/testkit/stage and sends commands to it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export class Stage {
  #process

  static async start() {
    const stage = new Stage()
    stage.#process = spawn('bin/stage', { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
    stage.url = String((await once(stage.#process.stdout, 'data'))[0]).trim()
    return stage
  }

  stop() {
    this.#process.stdin.end() // the server exits at the end of its input
  }

  async command(command) {
    const answer = await fetch(`${this.url}/control`, { method: 'POST', body: JSON.stringify(command) })
    if (!answer.ok) throw new Error(await answer.text())
    const result = await answer.json()
    for (const object of Object.values(result?.objects ?? {})) delete object.metadata.managedFields // the package also removes managedFields
    return result
  }

  /**
   * Starts an API server and returns an object whose methods are the commands of internal/testkit/stage/cluster.go. It has
   * no method `then`, because `await` would take it for a promise.
   */
  async cluster(options = {}) {
    const server = await this.command({ do: 'start', ...options })
    return new Proxy({ url: server }, {
      get: (own, name) => own[name] ?? (name === 'then' ? undefined : (options) => this.command({ do: name, server, ...options })),
    })
  }
}

/**
 * Calls `look` until it returns a truthy value, and returns this value. Fails after the given number of seconds.
 */
export async function until(what, look, seconds = 60) {
  const deadline = Date.now() + seconds * 1000
  let last
  while (Date.now() < deadline) {
    last = await look()
    if (last) return last
    await pause(20)
  }
  assert.fail(`timed out waiting for: ${what}`)
}
