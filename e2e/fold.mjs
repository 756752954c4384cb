// Folds what lwcat -o jsonl has printed, on standard input, into "key resourceVersion" lines; fails where the lines contradict.
import { createInterface } from 'node:readline'
const state = new Map()
for await (const line of createInterface({ input: process.stdin })) {
  const { type, key, resourceVersion } = JSON.parse(line)
  if (state.has(key) === (type === 'ADDED')) throw new Error(`${type} of ${key} at ${resourceVersion}, which is ${state.get(key) ?? 'not there'}`)
  if (type === 'DELETED') state.delete(key)
  else state.set(key, resourceVersion)
}
for (const [key, version] of [...state].sort()) console.log(key, version)
