// What a page imports; index.d.ts says what everything means.

import { Collection } from './collection.js'
import { connect } from './connect.js'
import { specOf } from './spec.js'

export { ListWatchError } from './error.js'

let link

/** Loads the program, once. */
export function init(options = {}) {
  const made = link ??= connect(options)
  made.catch(() => {
    if (link === made) link = undefined // so that a later try is one
  })
  return made.then(() => {})
}

/** Follows a collection. */
export function listWatch(options) {
  const { spec, token } = specOf(options)
  return new Collection(spec, token, options.signal, () => init().then(() => link))
}
