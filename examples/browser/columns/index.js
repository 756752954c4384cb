// Selects the columns of a collection. The page defines the columns of known kinds. Other collections have the columns
// that the server defines, or generic columns.

import { condition, created, labels, name, namespace, plain } from './format.js'
import { cluster } from './cluster.js'
import { toneOf } from './printer.js'
import { workloads } from './workloads.js'

/**
 * @import { Resource } from '../discovery.js'
 * @import { Column, Kube } from './format.js'
 * @import { Printed } from './printer.js'
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

/** @type {Column[]} */
const generic = [namespace, name, plain('status', 'Status', 140, status, { tone: toneOf, dot: true }), labels, created]

/** @type {(resource: Pick<Resource, 'group' | 'plural'>) => boolean} Reports whether a collection has its own columns. */
export const hasColumns = ({ group, plural }) => `${group}/${plural}` in known

/**
 * Returns the columns of a collection. It omits the namespace column if a single namespace is selected.
 * @param {Pick<Resource, 'group' | 'plural' | 'namespaced'>} resource
 * @param {string} chosen the namespaces that the page shows, separated by commas, or ""
 * @param {Printed} [printed] the columns that the server defines
 */
export function columnsOf({ group, plural, namespaced }, chosen, printed) {
  const columns = known[`${group}/${plural}`] ?? (printed ? [namespace, name, ...printed.columns, created] : generic)
  return columns.filter((column) => column.id !== 'namespace' || (namespaced && (!chosen || chosen.includes(','))))
}

/**
 * Reports whether a user has chosen a column. An empty choice contains all columns.
 * @param {string[]} chosen the ids of columns
 * @param {Pick<Column, 'id'>} column
 */
export const isChosen = (chosen, { id }) => !chosen.length || chosen.includes(id)

/**
 * Returns the default order of a collection: events by age, all others by key.
 * @param {Pick<Resource, 'plural'>} resource
 */
export const sortOf = ({ plural }) => (plural === 'events' ? { sort: 'last', descending: false } : { sort: '', descending: false })
