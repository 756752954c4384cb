import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgets, judge } from './judge.mjs'
import { median, orders } from './print.mjs'

// Returns measurements that exactly meet every budget.
function met() {
  const round = (scale) => ({
    empty: { paced: 3 },
    plain: { synced: 100 * scale, nothing: 110 * scale, paced: 20, burst: 500 * scale, again: 400 * scale },
    shared: { synced: 200 * scale, nothing: 300 * scale, paced: 16, burst: 500 * scale, again: 400 * scale },
  })
  return {
    sizes: { wasm: 600, index: 12000, worker: 9000 },
    browsers: { chrome: [round(1), round(3), round(2)], firefox: [round(1)] },
    memory: {
      plain: { came: 70, read: 60 },
      shared: { came: 60, read: 70, shared: 9 },
      worker: { came: 1, read: 1 },
      projected: { came: 14, read: 9 },
    },
  }
}

const verdicts = (figures) => Object.fromEntries(judge(figures).map(({ what, met }) => [what, met]))
const unmet = (figures) => Object.entries(verdicts(figures)).filter(([, met]) => met !== 'yes')

test('measurements equal to the budgets meet them', () => {
  assert.equal(judge(met()).length, 2 + 2 * 3 + 2)
  assert.deepEqual(unmet(met()), [])
})

const greater = {
  'the WASM module, kB, brotli 11': (all) => { all.sizes.wasm += 1 },
  'the JavaScript, kB, gzipped': (all) => { all.sizes.worker = 12001 },
  'chrome: from init to 1,000 Pods, relative to plain JavaScript': (all) => all.browsers.chrome.slice(1).forEach(({ shared }) => { shared.synced *= 1.1 }),
  'chrome: longest main-thread block at 1,000 changes/s, ms': (all) => all.browsers.chrome.slice(1).forEach(({ shared }) => { shared.paced += 1 }),
  'chrome: a burst of 10,000 changes, relative to plain JavaScript': (all) => all.browsers.chrome.slice(1).forEach(({ shared }) => { shared.burst *= 1.1 }),
  'firefox: a burst of 10,000 changes, relative to plain JavaScript': (all) => { all.browsers.firefox[0].plain.burst -= 1 },
  'chrome: memory with 10,000 Pods, relative to plain JavaScript': (all) => { all.memory.shared.read += 1 },
  'chrome: memory with three fields of each Pod, relative to plain JavaScript': (all) => { all.memory.projected.came += 1 },
}
for (const [what, change] of Object.entries(greater)) {
  test(`a larger value exceeds its budget: ${what}`, () => {
    const all = met()
    change(all)
    assert.deepEqual(unmet(all), [[what, 'NO']])
  })
}

test('one outlier round does not change the results', () => {
  const all = met()
  all.browsers.chrome[1].shared = { synced: 9e9, nothing: 9e9, paced: 9e9, burst: 9e9, again: 9e9 }
  assert.deepEqual(unmet(all), [])
})

test('contenders are compared within the same round', () => {
  const all = met()
  const [first, second, third] = all.browsers.chrome
  for (const round of [first, second]) round.shared.burst = 0.9 * round.plain.burst
  third.shared.burst = 1e6
  assert.deepEqual(unmet(all), [])
  assert.equal(judge(all).find(({ what }) => what.startsWith('chrome: a burst')).figure, 0.9)
})

test('a missing measurement does not meet its budget', () => {
  const noisy = met()
  for (const { empty } of noisy.browsers.chrome) empty.paced = budgets.block + 1
  assert.deepEqual(unmet(noisy), [['chrome: longest main-thread block at 1,000 changes/s, ms', 'not measured']])
  const failed = met()
  failed.sizes.wasm = undefined
  assert.deepEqual(unmet(failed), [['the WASM module, kB, brotli 11', 'not measured']])
  failed.sizes = { wasm: 1 }
  assert.deepEqual(unmet(failed), [['the JavaScript, kB, gzipped', 'not measured']])
})

test('median returns the middle value, and orders reverses every second round', () => {
  assert.equal(median([5, 1, 9]), 5)
  assert.equal(median([1, 2, 3, 10]), 2.5)
  assert.deepEqual(orders(['a', 'b'], 3), [['a', 'b'], ['b', 'a'], ['a', 'b']])
})
