// Implements listwatch/testing. testing.d.ts is generated from this file.

/** @import { KubernetesObject } from './types.js' */
/** @import { Link } from './connect.js' */
/** @import { Failure } from './fake.js' */
/** @import { Client } from './host.js' */
/** @import { Spec } from './spec.js' */

import { FakeResource, FakeWatch, idOf, keyOf, placeOf, resourceIdOf } from './fake.js'

/** The key of the global variable that holds the link to the current cluster. All copies of the package read it. */
const SLOT = Symbol.for('listwatch/testing')
/** @type {Record<symbol, Link & { close(): void } | undefined>} */
const slots = /** @type {any} */ (globalThis)

/**
 * Replaces the server of all later collections with a simulated cluster, until `close` is called or another cluster
 * replaces this one. It needs no WASM module, no worker and no server.
 *
 * Collections load in microtasks, and changes reach them before the methods return. So tests need no timers, and React
 * shows a change after `act(() => cluster.apply(pod))`.
 */
export function fakeCluster() {
  slots[SLOT]?.close()
  return new FakeCluster()
}

/** A simulated cluster. See `fakeCluster`. */
export class FakeCluster {
  /** @type {Map<string, FakeResource>} by group and plural */
  #resources = new Map()
  #version = 0
  /** @type {string | undefined} the error message while all collections are interrupted */
  #down
  #link

  constructor() {
    this.#link = { immediate: true, open: this.#open.bind(this), wake() {}, close: this.close.bind(this) }
    slots[SLOT] = this.#link
  }

  /** @param {Spec} spec @param {Client} client */
  #open(spec, client) {
    const resource = this.#resource(placeOf(spec).id), watch = new FakeWatch(resource, spec, client)
    resource.watches.add(watch)
    watch.start(this.#version)
    return () => { resource.watches.delete(watch) }
  }

  /** The number of open collections. */
  get collections() {
    return [...this.#resources.values()].reduce((n, { watches }) => n + watches.size, 0)
  }

  /**
   * Creates or replaces one or more objects, which arrive together. The cluster copies them and sets their
   * resourceVersion, and their UID if it is missing.
   *
   * The resource is the plural of `kind`. Pass `resource` for an object without a `kind`, or with an irregular plural. The
   * default of `apiVersion` is the version of the built-in resource.
   * @template {KubernetesObject} T
   * @param {T | readonly T[]} objects
   * @param {{ resource?: string | undefined }} [options]
   */
  apply(objects, { resource } = {}) {
    this.#change(objects, resource, (stored, key, object) => {
      const copy = JSON.parse(JSON.stringify(object)), version = String(++this.#version)
      const uid = stored.get(key)?.metadata?.uid ?? `uid-${version}`
      stored.set(key, { ...copy, metadata: { uid, ...copy.metadata, resourceVersion: version } })
    })
  }

  /**
   * Deletes one or more objects. Only their resource, namespace and name are read.
   * @template {KubernetesObject} T
   * @param {T | readonly T[]} objects
   * @param {{ resource?: string | undefined }} [options]
   */
  delete(objects, { resource } = {}) {
    this.#change(objects, resource, (stored, key) => {
      this.#version++
      stored.delete(key)
    })
  }

  /**
   * Interrupts all collections. They stay interrupted until `recover` is called.
   * @param {string} [message]
   */
  interrupt(message = 'listwatch: the fake cluster interrupted the connection') {
    for (const resource of this.#resources.values()) fail(resource, { message })
    this.#down = message
  }

  /**
   * Responds to the requests for a resource such as `"pods"` with an HTTP status, until `recover` is called. With
   * `namespace`, it affects only the collections of that namespace. A collection that has not loaded yet stops if the
   * status is 400, 401, 403, 404 or 422. In all other cases, the collection is interrupted.
   * @param {string} resource
   * @param {number} status
   * @param {{ namespace?: string | undefined, message?: string | undefined }} [options]
   */
  reject(resource, status, { namespace, message = `listwatch: the fake cluster rejects ${resource} with ${status}` } = {}) {
    fail(this.#resource(idOf(resource)), { status, message, namespace })
  }

  /** Ends all interruptions and rejections. The affected collections relist, except those that have stopped. */
  recover() {
    this.#down = undefined
    for (const resource of this.#resources.values()) {
      const failed = [...resource.watches].filter(({ failure }) => failure)
      resource.failures = []
      for (const watch of failed) watch.start(this.#version)
    }
  }

  /** Stops all collections. Later collections use the real server again. */
  close() {
    if (slots[SLOT] === this.#link) delete slots[SLOT]
    for (const { watches } of this.#resources.values()) {
      for (const watch of watches) watch.close()
    }
  }

  /** @param {string} id */
  #resource(id) {
    let resource = this.#resources.get(id)
    if (!resource) {
      this.#resources.set(id, resource = new FakeResource())
      if (this.#down !== undefined) fail(resource, { message: this.#down })
    }
    return resource
  }

  /**
   * @param {KubernetesObject | readonly KubernetesObject[]} objects
   * @param {string | undefined} resource
   * @param {(stored: Map<string, KubernetesObject>, key: string, object: KubernetesObject) => void} change
   */
  #change(objects, resource, change) {
    /** @type {Map<FakeResource, string[]>} */
    const changed = new Map()
    for (const object of /** @type {KubernetesObject[]} */ ([objects].flat())) {
      if (!object.metadata?.name) throw new Error('listwatch: the object needs metadata.name')
      const target = this.#resource(resourceIdOf(object, resource)), key = keyOf(object)
      change(target.objects, key, object)
      changed.set(target, [...changed.get(target) ?? [], key])
    }
    for (const [{ watches }, keys] of changed) {
      for (const watch of [...watches]) watch.update(keys, this.#version)
    }
  }
}

/** @param {FakeResource} resource @param {Failure} failure */
function fail(resource, failure) {
  resource.failures.unshift(failure) // the latest one applies
  for (const watch of [...resource.watches]) {
    if (watch.failure) watch.fail(watch.failure)
  }
}
