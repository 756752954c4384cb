import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

/** Returns the size of a file in kB after compression with brotli 11. */
export function brotli(file) {
  const bytes = readFileSync(file)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  return brotliCompressSync(bytes, { params }).length / 1000
}
