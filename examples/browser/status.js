// How things stand with the server, in words: what is shown in the corner, above the table, and in place of it.

import { age } from './columns/format.js'

const CAUSES = {
  unauthorized: 'The server does not know the token',
  forbidden: 'Not allowed',
  'not-found': 'The server has no such collection',
  expired: 'The version was too old; listing again',
  'too-many-requests': 'The server asks to wait',
  closed: 'The server ended the watch',
  silent: 'Nothing was heard for too long',
  network: 'No connection',
  malformed: 'The answer could not be read',
  load: 'The program could not be loaded',
}

/** A cause in plain words, and what was said exactly. */
export function explain(cause) {
  if (!cause) return { short: '', long: '' }
  const offline = cause.code === 'network' && globalThis.navigator?.onLine === false
  return { short: offline ? 'This computer is offline' : CAUSES[cause.code] ?? 'Something went wrong', long: cause.message.replace(/^(listwatch: |http: )+/, '').replace(/: TypeError: .*/, '') }
}

const seconds = (ms) => `${Math.max(0, Math.ceil(ms / 1000))} s`

/** The corner: a few words and a tone. `state` is a collection's, `now` in milliseconds. */
export function corner(state, now) {
  switch (state.phase) {
    case 'live':
      return { tone: 'ok', text: 'Live', title: `Version ${state.resourceVersion}, last heard ${age(now - state.lastEventAt)} ago` }
    case 'interrupted': {
      const { short, long } = explain(state.cause)
      const left = state.retryAt - now
      return { tone: 'warn', text: left > 0 ? `${short} · next try in ${seconds(left)}` : `${short} · trying now`, title: long }
    }
    case 'stopped':
      return { tone: 'bad', text: explain(state.cause).short || 'Stopped', title: explain(state.cause).long }
  }
  return { tone: 'busy', text: state.phase === 'listing' ? 'Listing' : 'Connecting', title: '' }
}

/** Whether trying now is of use: a server that answered has said what it has to say. */
export function canRetry({ phase, cause }) {
  return phase === 'stopped' ? cause?.code !== 'unauthorized' : phase === 'interrupted' && !cause?.status
}

/** The line above rows that may be older than the server's; empty if they are not. */
export function staleness(state, size, now) {
  if (!state.stale || !size || state.progress || !state.lastEventAt) return ''
  const when = new Date(state.lastEventAt).toLocaleTimeString([], { hour12: false })
  const { long } = explain(state.cause)
  return `Stale: as it was at ${when}, ${age(now - state.lastEventAt)} ago. What happened since then is not known.${long && ` Cause: ${long}`}`
}

/** Whether the number of objects is one: nobody knows it before a list was complete, now or at an earlier visit. */
export const isKnown = ({ resourceVersion }, size) => size > 0 || !!resourceVersion

/** The lines that stand in place of rows, where there are none: why, and what can be done. */
export function inPlace(state, size, { search, namespace, plural }) {
  const { short, long } = explain(state.cause)
  const what = namespace ? `${plural} in ${namespace}` : plural
  if (state.cause?.code === 'not-found') return [short, long, 'Choose another one in the menu, or ask the server with ⟳ for what it has now.']
  if (state.phase === 'stopped') return [short, long]
  if (!isKnown(state, size)) return short ? [`Not listed yet: ${short}`, long] : []
  if (search) return [`Nothing matches “${search}”`, 'Esc clears the search.']
  if (state.phase === 'live') return [`No ${what}`, 'They appear here as soon as there are any.']
  return short ? [`There were no ${what}`, `What happened since then is not known. Cause: ${long}`] : []
}

/** How far a first list is: between 0 and 1, undefined if nobody knows; and in words. */
export function progress({ progress, phase }) {
  if (phase === 'loading') return { text: 'Loading' }
  if (!progress) return undefined
  const { received, remaining } = progress
  const n = received.toLocaleString('en')
  if (!(remaining > 0)) return { text: `${n} received` }
  return { part: received / (received + remaining), text: `${n} of ${(received + remaining).toLocaleString('en')}` }
}
