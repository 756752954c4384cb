// Describes the connection to the server for the indicator, the line above the table and an empty table.

import { age } from './columns/format.js'
import { namespacesOf } from './route.js'

/**
 * @import { Phase, State } from './listwatch/index.js'
 *
 * @typedef {{ code: string, message: string, status?: number }} Cause
 *
 * @typedef {object} Status The State of a collection, or of the page while no collection is open.
 * @property {Phase} phase
 * @property {Cause} [cause]
 * @property {number} [retryAt]
 * @property {boolean} [synced]
 * @property {string} [resourceVersion]
 * @property {number} [lastEventAt]
 * @property {State['progress']} [progress]
 *
 * @typedef {object} Indicator
 * @property {'ok' | 'quiet' | 'warn' | 'bad' | 'busy'} tone
 * @property {string} text
 * @property {string} more the part that changes each second; it is not announced
 * @property {string} title
 */

/**
 * Short descriptions by error code. "turns" is missing, because indicator describes a live collection itself.
 * @type {Record<string, string>}
 */
const CAUSES = {
  unauthorized: 'The server rejected the token',
  forbidden: 'Not allowed',
  'not-found': 'The server has no such collection',
  expired: 'The resourceVersion has expired; relisting',
  'too-many-requests': 'The server is rate limiting requests',
  'too-large': 'The collection is too large',
  status: 'The server answered with an error',
  closed: 'The server ended the watch',
  silent: 'The server sent nothing for too long',
  unsupported: 'The server or this browser does not support this',
  network: 'No connection',
  malformed: 'The response could not be read',
  invalid: 'The request is invalid',
  load: 'The WASM module could not be loaded',
  crashed: 'The WASM module crashed: reload the page',
}

/**
 * Returns a short description of a cause, and its message without the prefixes of the package and without the browser's
 * error, for example "TypeError: Failed to fetch".
 * @param {Cause | undefined} cause
 */
export function explain(cause) {
  if (!cause) return { short: '', long: '' }
  const offline = cause.code === 'network' && globalThis.navigator?.onLine === false
  return { short: offline ? 'This computer is offline' : CAUSES[cause.code] ?? 'Something went wrong', long: cause.message.replace(/^(listwatch: |http: )+/, '').replace(/: TypeError: .*/, '') }
}

const seconds = (/** @type {number} */ ms) => `${Math.max(0, Math.ceil(ms / 1000))} s`

const IDLE_AFTER = 10_000 // milliseconds without data after which a live page shows the time of the last update

/**
 * Returns the color and the texts of the indicator.
 * @param {Status} state
 * @param {number} now in milliseconds
 * @returns {Indicator}
 */
export function indicator(state, now) {
  const { short, long } = explain(state.cause)
  switch (state.phase) {
    case 'live': {
      // Over HTTP/1.1, there may be more watches than connections. They then take turns, so changes arrive late.
      const quiet = now - (state.lastEventAt ?? 0), late = state.cause?.code === 'turns'
      const text = late ? 'Live, a few seconds behind' : 'Live', title = late ? long : `Version ${state.resourceVersion}`
      if (quiet < IDLE_AFTER) return { tone: late ? 'quiet' : 'ok', text, more: '', title }
      const time = quiet < 60_000 ? `${Math.floor(quiet / 1000)} s` : `${Math.floor(quiet / 60_000)} min`
      return { tone: 'quiet', text, more: `, last update ${time} ago`, title }
    }
    case 'stopped':
      return { tone: 'bad', text: short || 'Stopped', more: '', title: long }
    case 'listing':
      return { tone: 'busy', text: state.synced ? 'Opening the watch' : 'Listing', more: '', title: long }
  }
  if (!state.cause) return { tone: 'busy', text: 'Connecting', more: '', title: '' }
  const left = (state.retryAt ?? 0) - now
  return { tone: 'warn', text: short, more: left > 0 ? ` · next try in ${seconds(left)}` : ' · trying now', title: long }
}

/**
 * Reports whether the server rejected the token. A retry cannot succeed then, but another token may.
 * @param {Status} state
 */
export const needsToken = ({ cause }) => cause?.code === 'unauthorized'

/**
 * Reports whether the title of the page warns: the objects may be outdated, or they cannot be loaded.
 * @param {Status} state
 */
export const isTroubled = ({ phase, cause }) => phase === 'stale' || phase === 'stopped' || (phase !== 'live' && cause !== undefined)

/**
 * Returns the label of the button next to the indicator, or "" if the user can do nothing. After an error response, there is
 * no button to skip the delay, because the server may have requested it, and `state` does not contain that fact.
 * @param {Status} state
 */
export function actionLabel(state) {
  if (needsToken(state)) return 'Enter another token'
  return state.phase === 'stopped' || (state.retryAt !== undefined && !state.cause?.status) ? 'Try now' : ''
}

/**
 * Returns the line above possibly outdated rows, or "" if the rows are current. There is no such line during the first list,
 * because the progress bar already shows that rows are missing.
 * @param {Status} state
 * @param {number} size
 * @param {number} now in milliseconds
 */
export function staleness(state, size, now) {
  if (!['stale', 'stopped'].includes(state.phase) || !size || state.progress || !state.lastEventAt) return ''
  const when = new Date(state.lastEventAt).toLocaleTimeString([], { hour12: false })
  const { long } = explain(state.cause)
  return `Stale: last update at ${when}, ${age(now - state.lastEventAt)} ago. Later changes are unknown.${long && ` Cause: ${long}`}`
}

/**
 * Returns the line above a paused table.
 * @param {number} at when the table was paused, in milliseconds
 * @param {number} changed the number of objects that have changed since then
 * @param {number} now in milliseconds
 */
export function pausedMessage(at, changed, now) {
  const when = new Date(at).toLocaleTimeString([], { hour12: false })
  return `Paused: the table shows the objects of ${when}, ${age(now - at)} ago. ${changed.toLocaleString('en')} ${changed === 1 ? 'object has' : 'objects have'} changed since then. Press p to resume.`
}

/**
 * Reports whether the number of objects is known, because a list was completed now or at an earlier visit.
 * @param {Status} state
 * @param {number} size
 */
export const isKnown = ({ resourceVersion }, size) => size > 0 || !!resourceVersion

/**
 * Returns the lines for an empty table: the reason and the next step for the user.
 * @param {Status} state
 * @param {number} size
 * @param {{ search: string, statuses: string[], namespace: string, plural: string }} route
 */
export function emptyMessage(state, size, { search, statuses, namespace, plural }) {
  const { short, long } = explain(state.cause)
  const what = namespace ? `${plural} in ${namespacesOf(namespace).join(' and ')}` : plural
  if (state.cause?.code === 'not-found') return [short, long, 'Choose another collection in the menu, or refresh the menu with ⟳.']
  if (state.phase === 'stopped') return [short, long]
  if (!isKnown(state, size)) return short ? [`Not loaded yet · ${short}`, long] : []
  if (statuses.length) return [`Nothing has the status ${statuses.join(' or ')}${search && ` and matches “${search}”`}`, 'Esc clears the filters.']
  if (search) return [`Nothing matches “${search}”`, 'Esc clears the search.']
  if (state.phase === 'live' || state.phase === 'listing') return [`No ${what}`, 'They appear here as soon as there are any.']
  return short ? [`There were no ${what}`, `Later changes are unknown. Cause: ${long}`] : []
}

/**
 * Returns the text of the details pane for an object that the collection does not contain.
 * @param {Status} state
 * @param {{ kind: string, name: string, namespace: string }} object
 * @param {string} chosen the namespace that the page shows, or ""
 */
export function missingMessage({ phase }, { kind, name, namespace }, chosen) {
  const where = namespace && ` in the namespace ${namespace}`
  if (chosen && !namespacesOf(chosen).includes(namespace)) return `This page shows only the namespace ${namespacesOf(chosen).join(' and ')}. The URL selects the ${kind} ${name}${where}.`
  if (phase !== 'live') return `The last known list does not contain the ${kind} ${name}${where}. Later changes are unknown.`
  return `The ${kind} ${name} does not exist${where}. It may have been deleted.`
}

/**
 * Returns the progress of the first list as text, and as a fraction if the server reports the remaining count.
 * @param {Status} state
 * @returns {{ part?: number, text: string } | undefined}
 */
export function progress({ progress, phase, cause }) {
  if (phase === 'waiting' && !cause) return { text: 'Loading' }
  if (!progress) return undefined
  const { received, remaining } = progress
  const n = received.toLocaleString('en')
  if (!remaining || remaining < 0) return { text: `${n} received` }
  return { part: received / (received + remaining), text: `${n} of ${(received + remaining).toLocaleString('en')}` }
}
