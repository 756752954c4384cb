// Prints the original size of a file and the size after compression. Fails if the compressed size exceeds the budget in
// kB. With WRITE=1, it also updates the size in the documents.
// Usage, as in make size: node size.mjs FILE BUDGET
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { publish } from '../publish/publish.mjs'
import { brotli } from './brotli.mjs'

const [file, budget] = process.argv.slice(2)
const sent = brotli(file)
const kB = (n) => `${n.toFixed(1)} kB`.padStart(11)
console.log(`${basename(file).padEnd(15)} ${kB(statSync(file).size / 1000)} ${kB(sent)} brotli 11`)
if (process.env.WRITE) publish('size', { 'wasm | listwatch': [sent] })
if (sent > Number(budget)) {
  console.error(`The compressed size exceeds the budget of ${budget} kB. Compare the output of
  GOOS=js GOARCH=wasm go list -deps ./wasm
before and after your change to find new packages. If the code is worth its size, raise the budget in the Makefile and give the reason in the commit.`)
  process.exit(1)
}
