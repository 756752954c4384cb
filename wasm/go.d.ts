// Declares go.js, which `make wasm` generates from Go's wasm_exec.js.

/** A Go program. See wasm_exec.js in the Go distribution. */
export interface Go {
  importObject: WebAssembly.Imports
  exited: boolean
  /** The running instance; set by `run`. */
  _inst: { exports: { mem: WebAssembly.Memory, listwatch_wake(id: number): void } }
  /** The timers of the program. */
  _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>
  /** Runs the goroutines until all of them block. */
  _resume(): void
  /** Runs the program. It resolves when the program exits. */
  run(instance: WebAssembly.Instance): Promise<void>
}

export function makeGo(): new () => Go
