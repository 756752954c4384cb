// Contains medians, the order of the contenders, and the output of progress and tables.

export const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b), half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/** Replaces the current line of the terminal. Prints nothing into a file or a pipe. */
export const progress = (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`)

export function print(title, table) {
  progress('')
  console.log(`\n${title}`)
  const rounded = (value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)
  console.table(table.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)]))))
}

/**
 * Returns the order of the contenders in each round. Every second round is in reverse order, so that no contender is always
 * the first.
 */
export const orders = (contenders, rounds) => Array.from({ length: rounds }, (_, i) => (i % 2 ? contenders.toReversed() : contenders))
