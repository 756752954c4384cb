// What a page imports; index.d.ts says what everything means.

import { Collection } from './collection.js'
import { connect } from './connect.js'
import { specOf } from './spec.js'

export { ListWatchError } from './error.js'

// The link opens collections. There is none before the first call, and after a failure.
let link, ready
let last = {} // the options of the last link, for its successor

/** Loads the program, once. */
export function init(options = {}) {
  if (link) return ready
  const begun = link = connect(options, () => forget(begun))
  ready = begun.then(() => { last = options }, (error) => {
    forget(begun) // the next call tries again
    throw error
  })
  return ready
}

function forget(failed) {
  if (link === failed) link = undefined
}

/** Follows a collection. */
export function listWatch(options) {
  const { spec, token } = specOf(options)
  return new Collection(spec, token, options.signal, linked)
}

async function linked() {
  const loaded = init(last), begun = link
  await loaded
  return begun
}

/** Has all collections look at once whether their connections live, and try again where they wait. */
export function wake() {
  link?.then((host) => host.wake(), () => {}) // init and the collections report why it could not be loaded
}
