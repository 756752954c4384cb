// Defines a row of the table: an object, its cells and its mark.

/**
 * @import { Change, Item } from './listwatch/index.js'
 * @import { Column, Kube } from './columns/format.js'
 *
 * @typedef {{ type: Change['type'], at: number, finalStateUnknown: boolean, cells: number[] }} Mark A recent change and
 * the columns that differ.
 */

/**
 * A row of the table. It parses its object only to draw, sort or search the row. Most objects of a long list are never
 * parsed.
 */
export class Row {
  gone = false // whether the object was deleted; the table still shows the row for a moment
  left = false // whether the row was removed from the table
  version = 0 // the number of visible changes
  sorted = false // whether the row is among the sorted rows
  placed = false // whether the row is in the view
  arrived = 0 // time of its arrival in milliseconds; 0 for a row of the first list
  /** @type {Mark | undefined} */
  mark
  /** @type {string | number | undefined} Sort key; undefined until the row is read. */
  rank
  /** @type {string[] | undefined} Strings of the columns; undefined until the row is read. */
  texts
  /** @type {(number | undefined)[]} Sort values of the columns. */
  values = []
  /** @type {(string | undefined)[]} Colors of the columns. */
  tones = []
  /** @type {string | undefined} The lines to search, each between two line breaks; undefined until the row is read. */
  words
  /** @type {string | undefined} The text of the status column when the row was last read. */
  status
  /** @type {string | undefined} The status under which the row is counted. */
  counted
  /** @type {string[] | undefined} The columns before the first unread change, to find the cells that differ. */
  was
  /** @type {Change<Kube> | undefined} The first unread change, with the unparsed old object. */
  past

  /** @param {Item<Kube>} item */
  constructor(item) {
    this.key = item.key
    this.item = item
  }

  /** @param {Change<Kube>} change */
  set(change) {
    this.was ??= this.texts
    if (!this.was && !change.initial) this.past ??= change
    this.item = change.item
    this.texts = undefined
    this.version++
  }

  /** Discards the cells after their source has changed, even if the object has not. */
  discard() {
    this.was ??= this.texts
    this.texts = undefined
    this.version++
  }

  /**
   * Returns the strings of the columns. It parses the object unless it has already done so.
   * @param {Column[]} columns
   */
  read(columns) {
    if (this.texts) return this.texts
    const o = this.item.object
    this.values = columns.map((column) => column.time?.(o) ?? column.rank?.(o))
    const texts = this.texts = textsOf(columns, o)
    this.tones = columns.map((column, i) => column.tone?.(o, texts[i]))
    this.words = `\n${[this.key, ...texts, ...pairsOf(o)].join('\n')}\n`.toLowerCase()
    this.status = texts[columns.findIndex(({ dot }) => dot)]
    const was = this.was ?? (this.past?.old && textsOf(columns, this.past.old))
    if (this.mark && was) this.mark.cells = columns.flatMap((column, i) => (column.time || was[i] === texts[i] ? [] : [i]))
    this.was = this.past = undefined
    return texts
  }
}

/** @type {(columns: Column[], o: Kube) => string[]} */
const textsOf = (columns, o) => columns.map((column) => (column.time ? '' : column.text(o)))

/**
 * Returns the pairs that a search term such as "app=web" can match: the labels, with and without the prefix of their
 * names, the node and the owners.
 * @param {Kube} o
 */
function pairsOf({ metadata = {}, spec }) {
  const labels = Object.entries(metadata.labels ?? {}).flatMap(([name, value]) => [`${name}=${value}`, `${name.replace(/^.*\//, '')}=${value}`])
  const owners = (metadata.ownerReferences ?? []).map((/** @type {Kube} */ { name }) => `owner=${name}`)
  return [...labels, ...owners, ...spec?.nodeName ? [`node=${spec.nodeName}`] : []]
}
