// Defines functions that tests call in a page; page.mjs wraps some of them. A test passes the name of a collection instead
// of the collection, because it can exchange only data with the page.
const before = new Set(Reflect.ownKeys(globalThis))
const followed = new Map()
let library

globalThis.stage = {
  followed, // collections by name

  /** Imports the package from a folder of the server and initializes it. */
  async load(options = {}, folder = '/listwatch') {
    library = await import(`${folder}/index.js`)
    await library.init(options)
  },

  /**
   * Opens a collection. `ask` is the first token that the token function returns. Without `ask`, the collection has no
   * token function.
   */
  open(name, { ask, ...options }) {
    const it = { asked: 0, token: ask, changes: [], replayed: {}, calls: 0, outcome: undefined, aborter: new AbortController() }
    if (ask) options.token = () => (it.asked++, it.token)
    it.collection = library.listWatch({ resource: 'configmaps', signal: it.aborter.signal, ...options })
    it.collection.synced.then(() => { it.outcome = 'synced' }, (error) => { it.outcome = plain(error) })
    it.collection.subscribe((changes) => {
      it.calls++
      for (const { type, key, initial, stale, finalStateUnknown, object } of changes) {
        it.changes.push({ type, key, initial, stale, finalStateUnknown })
        if (type === 'deleted') delete it.replayed[key]
        else it.replayed[key] = object
      }
    })
    followed.set(name, it)
  },

  deletePersisted: () => library.deletePersisted(),
  retry(name) { followed.get(name).collection.retry() },
  setToken(name, token) { followed.get(name).token = token },
  close(name) { followed.get(name).collection.close() },
  abort(name) { followed.get(name).aborter.abort(new Error('enough')) },

  /**
   * Returns the state and the objects of a collection. `replayed` contains the objects that result from applying all
   * changes, and must equal the objects. `changes` contains only the changes since the last call. `outcome` is "synced", or
   * the error with which the promise `synced` was rejected. `asked` counts calls of the token function, and `calls` counts
   * calls of the subscriber.
   */
  show(name) {
    const { collection, outcome, changes, replayed, asked, calls } = followed.get(name)
    const { cause, persistError, ...state } = collection.state
    const objects = Object.fromEntries(collection.list().map((item) => [item.key, item.object]))
    // Without a clone, Firefox would omit an object that occurs twice in the result.
    return { objects, replayed: structuredClone(replayed), outcome, asked, calls, changes: changes.splice(0), state: { ...state, cause: cause && plain(cause), persistError: persistError && plain(persistError) } }
  },

  /** Returns the names of the global variables that were added after the page was loaded, except `stage`. */
  added: () => Reflect.ownKeys(globalThis).filter((name) => !before.has(name) && name !== 'stage').map(String),
}

// A test receives only the data of an object, so an error is copied to a plain object.
const plain = ({ name, code, status, reason, retryable, message }) => ({ name, code, status, reason, retryable, message })
