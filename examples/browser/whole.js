// The whole of one object: the table has of each the fields that it shows. The rest is asked of the server, also as it was
// before a change: the server remembers for some minutes. No watch of its own, as browsers open six connections to a server
// that speaks HTTP/1.1.

const MOST = 60 // versions that are held, and half as many that are waited for

export class Whole {
  newest // the object as it was when it was asked for last, once it has come; it stays when the object is deleted
  arrivals = 0 // counts what has come or cannot be had
  #versions = new Map() // to the object; null if the server does not tell it
  #wanted = new Map() // versions to ask for, with how
  #asking = false
  #ended = new AbortController()
  #link
  #address
  #tell

  /** @param link `{ server, token }`; @param resource as discovery told it; @param item of the row; `tell` is called when something came */
  constructor(link, { group, version, plural }, { namespace, name }, tell) {
    this.#link = link
    const path = [group ? `apis/${group}` : 'api', version, ...(namespace ? ['namespaces', namespace] : []), plural].join('/')
    this.#address = { url: `${link.server}/${path}`, name }
    this.#tell = tell
  }

  /**
   * The object at a version; undefined until it has come, null if it cannot be had. `asOf` is the version of a collection that
   * had it so; with `current` the object may also be as it is now, and becomes the newest.
   */
  at(version, { asOf = '', current = false } = {}) {
    const known = this.#versions.get(version)
    if (known !== undefined) return known
    if (!this.#wanted.has(version)) this.#wanted.set(version, { asOf, current })
    if (!this.#asking) this.#ask()
    return undefined
  }

  close() {
    this.#ended.abort()
  }

  async #ask() {
    this.#asking = true
    for (const [version, how] of this.#wanted) { // also what is wanted meanwhile
      const object = await this.#fetch(version, how).catch(() => null)
      if (this.#ended.signal.aborted) return
      this.#wanted.delete(version)
      this.#versions.set(version, object)
      this.arrivals++
      if (how.current) this.newest = object ?? this.newest
      this.#bound()
      this.#tell()
    }
    this.#asking = false
  }

  #bound() {
    for (const [map, most] of [[this.#versions, MOST], [this.#wanted, MOST / 2]]) {
      while (map.size > most) map.delete(map.keys().next().value)
    }
  }

  async #fetch(version, { asOf, current }) {
    const then = asOf && await this.#past(asOf)
    if (then?.metadata.resourceVersion === version) return then
    if (!current) return null
    const now = await this.#get(`/${encodeURIComponent(this.#address.name)}`)
    if (now) this.newest = bare(now)
    return now?.metadata.resourceVersion === version ? this.newest : null
  }

  // An object as it was is the list of it as that was.
  async #past(asOf) {
    const query = new URLSearchParams({ fieldSelector: `metadata.name=${this.#address.name}`, resourceVersion: asOf, resourceVersionMatch: 'Exact' })
    const list = await this.#get(`?${query}`)
    const item = list?.items?.find(({ metadata }) => metadata.name === this.#address.name)
    return item && bare({ apiVersion: list.apiVersion, kind: list.kind.replace(/List$/, ''), ...item })
  }

  async #get(rest) {
    const headers = this.#link.token ? { Authorization: `Bearer ${this.#link.token}` } : {}
    const response = await fetch(this.#address.url + rest, { headers, cache: 'no-store', signal: this.#ended.signal })
    return response.ok ? response.json() : null
  }
}

// Without what the package drops as well.
function bare(object) {
  delete object.metadata.managedFields
  return object
}
