// What a page imports; index.d.ts says what everything means.

import { Collection } from './collection.js'
import { connect } from './connect.js'
import { specOf } from './spec.js'

export { ListWatchError } from './error.js'

let link, ready

/** Loads the program, once. */
export function init(options = {}) {
  if (!link) {
    link = connect(options)
    ready = link.then(() => {}, (error) => {
      link = undefined // so that a later try is one
      throw error
    })
  }
  return ready
}

/** Follows a collection. */
export function listWatch(options) {
  const { spec, token } = specOf(options)
  return new Collection(spec, token, options.signal, () => init().then(() => link))
}

/** Has all collections look at once whether their connections live, and try again where they wait. */
export function wake() {
  link?.then((host) => host.wake(), () => {}) // what could not be loaded is told by those who asked for it
}
