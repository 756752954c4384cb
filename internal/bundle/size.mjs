// Prints the size of wasm files as they are, and as a server would send them.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

for (const file of process.argv.slice(2)) {
  const bytes = readFileSync(file)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const kB = (n) => `${(n / 1000).toFixed(1)} kB`.padStart(11)
  console.log(`${basename(file).padEnd(14)} ${kB(bytes.length)} ${kB(brotliCompressSync(bytes, { params }).length)} brotli 11`)
}
