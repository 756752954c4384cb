// Exports the rows of the table as CSV or JSON.

import { h } from './dom.js'

/**
 * @import { Column } from './columns/format.js'
 * @import { Row } from './row.js'
 */

/**
 * Quotes a cell for CSV. A spreadsheet would execute a cell that begins like a formula, so this gets an apostrophe.
 * @param {string} text
 */
const quoted = (text) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`

/**
 * @param {Column} column
 * @param {Row} row
 */
function cellOf(column, { item: { object } }) {
  if (!column.time) return column.text(object)
  const at = column.time(object)
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}

/**
 * @param {Row[]} rows
 * @param {Column[]} columns
 */
export function csvOf(rows, columns) {
  return [columns.map(({ title }) => title), ...rows.map((row) => columns.map((column) => cellOf(column, row)))]
    .map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')
}

/**
 * Returns the objects with the fields that the page knows.
 * @param {Row[]} rows
 */
export const jsonOf = (rows) => `${JSON.stringify(rows.map(({ item }) => item.object), null, 2)}\n`

/**
 * @param {string} name of the file
 * @param {string} type
 * @param {string} text
 */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }))
  h('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000) // the browser may still be reading
}
