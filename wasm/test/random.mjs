// Runs tests with random data. With FUZZTIME=90s, each test runs for 90 seconds instead of a fixed number of rounds.
// FUZZ_SEED sets the seed of the first round.

const { FUZZTIME = '', FUZZ_SEED = FUZZTIME ? Date.now() % 1e9 : 1 } = process.env
const [, amount, unit] = /^(\d+)([smh])$/.exec(FUZZTIME) ?? []
const duration = amount * { s: 1e3, m: 60e3, h: 3600e3 }[unit] // in milliseconds; NaN for a fixed number of rounds
const decoder = new TextDecoder('utf-8', { ignoreBOM: true }), encoder = new TextEncoder()
export const text = (bytes) => decoder.decode(bytes)
export const concat = (...parts) => Buffer.concat(parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part)))

/** Generates random numbers, strings and JSON from a seed. The algorithm is mulberry32. */
export class Random {
  constructor(seed) { this.state = seed }
  below(n) {
    let t = this.state += 0x6D2B79F5
    t = Math.imul(t ^ t >>> 15, t | 1)
    t ^= t + Math.imul(t ^ t >>> 7, t | 61)
    return ((t ^ t >>> 14) >>> 0) % n
  }
  of(...all) { return all[this.below(all.length)] }
  some(most, make) { return Array.from({ length: this.below(most + 1) }, make) }
  string() {
    const piece = () => this.of('a', 'B', '7', '/', '.', '\\', '[', ']', '"', ' ', '\n', '\0', '\x7f', 'é', '€', '𝄞', '\uFEFF', '\uD800', '\uDFFF',
      '%', '&', '#', '?', '..', '\u2028', 'x'.repeat(this.below(300)), String.fromCharCode(this.below(65536)))
    return this.some(4, piece).join('')
  }
  /** Returns the bytes of a random JSON string, which may contain escapes and invalid UTF-8. */
  quoted() {
    const piece = () => this.of(JSON.stringify(this.string()).slice(1, -1), '\\u0041', '\\ud83d\\ude42', '\\ude42', '\\/', Buffer.from([0xC3]),
      Buffer.from([0xE2, 0x82]), Buffer.from([0xFF]), Buffer.from([0xED, 0xA0, 0x80]), Buffer.from([0xF0, 0x9F, 0x99]), '\u007f')
    return concat('"', ...this.some(4, piece), '"')
  }
  value(depth = 0) {
    switch (this.below(depth > 3 ? 4 : 7)) {
      case 0: return this.quoted()
      case 1: return concat(this.of('0', '-0', '1', '-1.5e-7', '9223372036854775807', '1e400', '123456789012345678901234567890'))
      case 2: return concat(this.of('true', 'false', 'null'))
      case 3: return this.quoted()
      case 4: return concat('[', ...this.some(3, (_, i) => concat(i ? ' ,' : '', this.value(depth + 1))), ']')
      default: return concat('{', ...this.members(depth), '}')
    }
  }
  members(depth, before = false) {
    return this.some(4, (_, i) => concat(i || before ? ',' : '', this.of(' ', ''), this.of(this.quoted(), '"a"', '"b"', '"managedFields"'), ':\t', this.value(depth + 1)))
  }
}

/**
 * Calls `play` for the given number of rounds or for FUZZTIME, each time with another seed. An error contains the seed
 * of its round.
 */
export async function rounds(most, play) {
  const end = Date.now() + duration
  let n = 0
  for (; duration ? Date.now() < end : n < most; n++) {
    const seed = Number(FUZZ_SEED) + n
    try {
      await play(new Random(seed), seed)
    } catch (error) {
      throw new Error(`FUZZ_SEED=${seed}: ${error.message}`, { cause: error })
    }
  }
  if (duration) console.log(`${n} rounds, beginning with FUZZ_SEED=${FUZZ_SEED}`)
}
