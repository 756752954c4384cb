// Which columns a collection has: those of its kind, or what every object tells.

import { condition, created, labels, name, namespace, plain } from './format.js'
import { cluster } from './cluster.js'
import { workloads } from './workloads.js'

const known = { ...workloads, ...cluster }

// Most custom resources tell their state in one of these ways.
function status(o) {
  if (o.metadata?.deletionTimestamp) return 'Terminating'
  const ready = condition(o, 'Ready') ?? condition(o, 'Available')
  if (ready) return ready.status === 'True' ? ready.type : ready.reason || `Not ${ready.type.toLowerCase()}`
  const told = o.status?.phase ?? o.status?.state
  return typeof told === 'string' ? told : ''
}

const TONES = { Ready: 'ok', Available: 'ok', Active: 'ok', Running: 'ok', Bound: 'ok', Failed: 'bad', Error: 'bad' }
const generic = [namespace, name, plain('status', 'Status', 140, status, { tone: (o, text) => TONES[text] ?? (text ? 'warn' : 'dim'), dot: true }), labels, created]

/** The columns of a collection, as discovery describes it; a namespace that is chosen needs none. */
export function columnsOf({ group, plural, namespaced }, chosen) {
  const columns = known[`${group}/${plural}`] ?? generic
  return columns.filter((column) => column.id !== 'namespace' || (namespaced && !chosen))
}

/** How a collection is sorted unless somebody asks: by key, but what tells of a moment by its age. */
export const sortOf = ({ plural }) => (plural === 'events' ? { sort: 'last', descending: false } : { sort: '', descending: false })
