// Assembles a small WASM module that replaces listwatch.wasm in tests. It reports that each collection is live and
// empty, and traps when it receives the command "wake".
import { LIVE, RESET, SYNCED, encode } from '../records.js'

const I32 = 0x7f
const number = (n) => (n < 64 ? [n] : n < 8192 ? [n % 128 | 128, n >> 7] : [n % 128 | 128, (n >> 7) % 128 | 128, n >> 14])
const constant = (n) => [0x41, ...number(n)] // n must be at most 1,000,000
const text = (string) => [string.length, ...new TextEncoder().encode(string)]
const vector = (items) => [...number(items.length), ...items.flat()]
const section = (id, content) => [id, ...number(content.length), ...content]
const get = (local) => [0x20, local], call = (f) => [0x10, f]
const END = 0x0b, UNREACHABLE = 0x00
const body = (locals, ...code) => {
  const all = [...vector(locals ? [[locals, I32]] : []), ...code.flat(), END]
  return [...number(all.length), ...all]
}

// Addresses of the data in the module's memory.
const QUESTION = 32768, RECORDS = 33000, COMMAND = 34000
const question = new TextEncoder().encode('command')
const records = encode([[RESET], [SYNCED, '9'], [LIVE, '9']])

// A command starts with one of these prefixes: `{"do":"wake"`, `{"do":"stop"`, or `{"do":"start","id":N`, where N is a
// single digit.
const byteAt = (n) => [...constant(COMMAND + n), 0x2d, 0, 0]
const is = (n, letter) => [...byteAt(n), ...constant(letter.charCodeAt(0)), 0x46]
const when = (condition, then) => [...condition, 0x04, 0x40, ...then, END]

const IMPORTS = { open: 1, ask: 2, emit: 4, read: 3, close: 2 } // index of the function type of each import
const [open, ask, emit, read, close] = Object.keys(IMPORTS).map((_, i) => i)
const NEXT = 5, WAKE = 6, RUN = 7, RESUME = 8
const next = [...constant(QUESTION), ...constant(question.length), ...call(open), ...call(ask)]
const wake = [
  ...get(0), ...constant(COMMAND), ...constant(64), ...call(read), 0x1a, ...get(0), ...call(close),
  ...when(is(7, 'w'), [UNREACHABLE]),
  ...when(is(9, 'a'), [...byteAt(19), ...constant(48), 0x6b, ...constant(RECORDS), ...constant(records.length), ...call(emit)]),
  ...call(NEXT),
]

const module = (run) => new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  ...section(1, vector([
    [0x60, 0, 0], [0x60, ...vector([[I32], [I32]]), 1, I32], [0x60, 1, I32, 0], [0x60, ...vector([[I32], [I32], [I32]]), 1, I32],
    [0x60, ...vector([[I32], [I32], [I32]]), 0], [0x60, ...vector([[I32], [I32]]), 0],
  ])),
  ...section(2, vector(Object.entries(IMPORTS).map(([name, type]) => [...text('listwatch'), ...text(name), 0, type]))),
  ...section(3, vector([[0], [2], [5], [0]])),
  ...section(5, vector([[0, 1]])),
  ...section(7, vector([['mem', 2, 0], ['listwatch_wake', 0, WAKE], ['run', 0, RUN], ['resume', 0, RESUME]].map(([name, kind, i]) => [...text(name), kind, i]))),
  ...section(10, vector([body(0, next), body(0, wake), body(0, run), body(0)])),
  ...section(11, vector([[QUESTION, question], [RECORDS, records]].map(([at, bytes]) => [0, ...constant(at), END, ...number(bytes.length), ...bytes]))),
])

export const trap = module(call(NEXT))
export const trapsAtStart = module([UNREACHABLE])
