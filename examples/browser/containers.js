// Lists the containers of a Pod for its overview.

import { h } from './dom.js'
import { since } from './columns/format.js'

/**
 * @import { Kube } from './columns/format.js'
 *
 * @typedef {object} Container
 * @property {string} name
 * @property {string} kind "init", "ephemeral" or ""
 * @property {string} image
 * @property {string} state for example "Running" or "Waiting: CrashLoopBackOff"
 * @property {string} tone
 * @property {number} at when the container started or ended, in milliseconds, or NaN
 * @property {boolean} ready
 * @property {number} restarts
 * @property {string} message why the container is waiting or has ended, or ""
 * @property {{ text: string, at: number } | undefined} last how and when the container ended before its last restart
 */

/** @param {Kube} terminated */
const ended = ({ reason, exitCode, signal }) => [reason, exitCode !== undefined && `exit code ${exitCode}`, signal && `signal ${signal}`].filter(Boolean).join(', ')

/**
 * @param {Kube} state
 * @returns {{ state: string, tone: string, at: number }}
 */
function describe({ running, waiting, terminated }) {
  if (running) return { state: 'Running', tone: 'ok', at: since(running.startedAt) }
  if (terminated) return { state: `Terminated: ${ended(terminated)}`, tone: terminated.exitCode ? 'bad' : 'dim', at: since(terminated.finishedAt) }
  // Any other reason, such as CrashLoopBackOff, is a problem.
  const normal = !waiting?.reason || /^(ContainerCreating|PodInitializing)$/.test(waiting.reason)
  return { state: ['Waiting', waiting?.reason].filter(Boolean).join(': '), tone: normal ? 'warn' : 'bad', at: NaN }
}

/**
 * Returns a Pod's containers in the order in which they start.
 * @param {Kube} pod
 * @returns {Container[]}
 */
export function containersOf({ spec = {}, status = {} }) {
  /** @type {[string, string, string][]} */
  const kinds = [['init', 'initContainers', 'initContainerStatuses'], ['', 'containers', 'containerStatuses'], ['ephemeral', 'ephemeralContainers', 'ephemeralContainerStatuses']]
  return kinds.flatMap(([kind, specs, statuses]) => (spec[specs] ?? []).map((/** @type {Kube} */ { name, image = '' }) => {
    const { state = {}, lastState, ready = false, restartCount: restarts = 0 } = status[statuses]?.find((/** @type {Kube} */ s) => s.name === name) ?? {}
    const last = lastState?.terminated && { text: ended(lastState.terminated), at: since(lastState.terminated.finishedAt) }
    return { name, kind, image, ...describe(state), ready, restarts, message: (state.waiting ?? state.terminated)?.message ?? '', last }
  }))
}

/**
 * Returns the elements that show the containers of a Pod.
 * @param {Kube} pod
 */
export function containerElements(pod) {
  return containersOf(pod).map(({ name, kind, image, state, tone, at, ready, restarts, message, last }) => h('li', {},
    h('div', { class: 'summary' }, h('strong', {}, name), kind && h('span', { class: 'ago' }, kind), h('span', { class: 'paths dotted', 'data-tone': tone }, state), timeOf(at)),
    h('dl', { class: 'facts' }, ...[['Image', image], ['Ready', ready ? 'yes' : 'no'], ['Restarts', String(restarts)]].flatMap(([title, text]) => [h('dt', {}, title), h('dd', {}, text || '—')]),
      ...last ? [h('dt', {}, 'Last exit'), h('dd', {}, last.text, ' ', timeOf(last.at))] : [],
      ...message ? [h('dt', {}, 'Message'), h('dd', {}, message)] : [])))
}

/** @param {number} at in milliseconds, or NaN */
const timeOf = (at) => !Number.isNaN(at) && h('time', {}, new Date(at).toLocaleString([], { hour12: false }))
