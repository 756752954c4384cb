// Prints the size of a wasm file as it is, and as a server would send it: node size.mjs FILE BUDGET
// It fails when the latter, in kB, is above the budget.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const [file, budget] = process.argv.slice(2)
const bytes = readFileSync(file)
const params = {
  [constants.BROTLI_PARAM_QUALITY]: 11,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
}
const sent = brotliCompressSync(bytes, { params }).length
const kB = (n) => `${(n / 1000).toFixed(1)} kB`.padStart(11)
console.log(`${basename(file).padEnd(15)} ${kB(bytes.length)} ${kB(sent)} brotli 11`)
if (sent > Number(budget) * 1000) {
  console.error(`That is more than the budget of ${budget} kB. docs/architecture.md, "The bundle's size", says what costs how much and
how to find what has come in. If it is worth its bytes, raise the budget in the Makefile and say so in the commit.`)
  process.exit(1)
}
