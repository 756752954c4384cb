// Selects the columns of a collection. Known kinds have their own columns, and all others have generic ones.

import { condition, created, labels, name, namespace, plain } from './format.js'
import { cluster } from './cluster.js'
import { workloads } from './workloads.js'

/**
 * @import { Resource } from '../discovery.js'
 * @import { Column, Kube } from './format.js'
 */

/** @type {Record<string, Column[]>} */
const known = { ...workloads, ...cluster }

// Returns the status of a custom resource. Most custom resources report it in one of these ways.
/** @param {Kube} o */
function status(o) {
  if (o.metadata?.deletionTimestamp) return 'Terminating'
  const ready = condition(o, 'Ready') ?? condition(o, 'Available')
  if (ready) return ready.status === 'True' ? ready.type : ready.reason || `Not ${ready.type.toLowerCase()}`
  const state = o.status?.phase ?? o.status?.state
  return typeof state === 'string' ? state : ''
}

/** @type {Record<string, string>} */
const TONES = { Ready: 'ok', Available: 'ok', Active: 'ok', Running: 'ok', Bound: 'ok', Failed: 'bad', Error: 'bad' }
/** @type {Column[]} */
const generic = [namespace, name, plain('status', 'Status', 140, status, { tone: (o, text) => TONES[text] ?? (text ? 'warn' : 'dim'), dot: true }), labels, created]

/**
 * Returns the columns of a collection. It omits the namespace column if a namespace is selected.
 * @param {Pick<Resource, 'group' | 'plural' | 'namespaced'>} resource
 * @param {string} chosen
 */
export function columnsOf({ group, plural, namespaced }, chosen) {
  const columns = known[`${group}/${plural}`] ?? generic
  return columns.filter((column) => column.id !== 'namespace' || (namespaced && !chosen))
}

/**
 * Returns the default order of a collection: events by age, all others by key.
 * @param {Pick<Resource, 'plural'>} resource
 */
export const sortOf = ({ plural }) => (plural === 'events' ? { sort: 'last', descending: false } : { sort: '', descending: false })
