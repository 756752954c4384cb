// The globals of Node that the sources use. In a browser they are undefined.
declare var process: { versions?: { node?: string }, getBuiltinModule(name: 'node:fs'): { readFileSync(file: URL): BufferSource } } | undefined
declare var setImmediate: ((f: () => void) => unknown) | undefined
