// Reads the output of lwcat -o jsonl from standard input and prints the resulting state as "key resourceVersion" lines.
// It fails if two lines contradict each other. TestLwcatSoak compares this state with the server's list.
import { createInterface } from 'node:readline'
const state = new Map()
for await (const line of createInterface({ input: process.stdin })) {
  const { type, key, resourceVersion } = JSON.parse(line)
  if (state.has(key) === (type === 'ADDED')) throw new Error(`${type} event for ${key} at ${resourceVersion}, but its previous resourceVersion is ${state.get(key) ?? 'unknown'}`)
  if (type === 'DELETED') state.delete(key)
  else state.set(key, resourceVersion)
}
for (const [key, version] of [...state].sort()) console.log(key, version)
