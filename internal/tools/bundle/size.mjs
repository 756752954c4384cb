// Prints the size of a wasm file as it is, and as a server would send it: node size.mjs FILE BUDGET
// It fails when the latter, in kB, is above the budget.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { brotli } from './brotli.mjs'

const [file, budget] = process.argv.slice(2)
const sent = brotli(file)
const kB = (n) => `${n.toFixed(1)} kB`.padStart(11)
console.log(`${basename(file).padEnd(15)} ${kB(statSync(file).size / 1000)} ${kB(sent)} brotli 11`)
if (sent > Number(budget)) {
  console.error(`That is more than the budget of ${budget} kB. docs/decisions/024-wasm-size.md says how to find the new code.
If it is worth its bytes, raise the budget in the Makefile and give the reason in the commit.`)
  process.exit(1)
}
