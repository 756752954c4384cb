import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { results } from './results.mjs'

const figures = { heap: 1, parsedHeap: 2, loadTasks: 3, cpu: 4, ready: 5, synced: 6, cached: 7, burst: 8, nothing: 9 }
const { heap, parsedHeap, ...ofFirefox } = figures
const round = (own) => ({ plain: own, shared: own, 'client-node': own, listwatch: own })
const all = {
  sizes: { page: 11000 },
  node: [round(figures), round({ ...figures, nothing: 19 }), round({ ...figures, nothing: 29 })],
  browsers: { chrome: [round(figures), round(figures)], firefox: [round({ ...ofFirefox, cpu: NaN })] },
}

test('the results have the names of the published results', () => {
  const published = JSON.parse(readFileSync(new URL('../results/browser.json', import.meta.url), 'utf8'))
  assert.deepEqual(Object.keys(results(all)).sort(), Object.keys(published).sort())
})

test('the results are medians, or empty if a figure was not measured', () => {
  const found = results(all)
  assert.deepEqual(found['time to start, ms | client-node, Node'], [19])
  assert.deepEqual(found['heap of the main thread with 10,000 Pods, MB | listwatch, Chromium'], [1])
  assert.deepEqual(found['heap of the main thread with 10,000 Pods, MB | listwatch, Firefox'], [])
  assert.deepEqual(found['CPU time of the main thread for 5,000 events, ms | plain JavaScript, Firefox'], [])
  assert.deepEqual(found['page | listwatch'], [11])
})
