import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgets, judge } from './judge.mjs'
import { median, orders } from './print.mjs'

// Returns measurements that are equal to the budgets.
function met() {
  const { loadTasks, tableTasks, wasm, script, synced, cached, ...ratios } = budgets
  const round = (scale) => ({
    plain: { ...Object.fromEntries(Object.keys(ratios).map((key) => [key, 100 * scale])), loadTasks: 3, tableTasks: 3, synced: 50 * scale, cached: 50 * scale },
    shared: { ...Object.fromEntries(Object.entries(ratios).map(([key, ratio]) => [key, 100 * scale * ratio])), loadTasks, tableTasks, synced: 50 * scale + synced, cached: 50 * scale + cached },
    empty: { synced: 80, cached: 80 },
  })
  return {
    sizes: { wasm, page: 1000 * script },
    browsers: { chrome: [round(1), round(4), round(2)], firefox: [round(1)] },
  }
}

const unmet = (figures) => judge(figures).filter(({ met }) => met !== 'yes').map(({ what, met }) => [what, met])

test('measurements equal to the budgets meet them', () => {
  assert.equal(judge(met()).length, 2 + 8 + 6)
  assert.deepEqual(unmet(met()), [])
})

const greater = {
  'the WASM module, kB, brotli 11': (all) => { all.sizes.wasm += 1 },
  'a page\'s JavaScript, kB, gzipped': (all) => { all.sizes.page += 1 },
  'firefox: time until 10,000 Pods are ready': (all) => { all.browsers.firefox[0].plain.ready -= 10 },
}
for (const key of Object.keys(budgets).filter((key) => key !== 'wasm' && key !== 'script')) {
  const { what } = judge(met()).find(({ what }) => what.startsWith('chrome') && unmet(chromeWith(key, 2)).flat().includes(what))
  greater[what] = (all) => Object.assign(all, chromeWith(key, 2))
}
for (const [what, change] of Object.entries(greater)) {
  test(`a value above the budget does not meet it: ${what}`, () => {
    const all = met()
    change(all)
    assert.deepEqual(unmet(all), [[what, 'NO']])
  })
}

// Returns measurements in which one figure exceeds its budget in Chromium, in the given number of rounds.
function chromeWith(key, rounds) {
  const all = met()
  for (const { shared } of all.browsers.chrome.slice(0, rounds)) shared[key] = shared[key] * 1.1 + 1
  return all
}

test('the tests above cover every budget', () => {
  assert.equal(Object.keys(greater).length, 3 + 8)
})

test('the start of an empty Go program is shown but does not change the figure', () => {
  const row = judge(met()).find(({ what }) => what === 'firefox: time from init to 1,000 Pods')
  assert.deepEqual([row.figure, row.beside], [100, '150.0, plain JavaScript 50.0, empty Go program 80.0'])
})

test('a single outlier round does not change the result', () => {
  for (const key of Object.keys(budgets)) assert.deepEqual(unmet(chromeWith(key, 1)), [])
})

test('contenders are compared within the same round', () => {
  const all = met()
  const [first, second, third] = all.browsers.chrome
  for (const round of [first, second]) round.shared.cpu = 0.9 * round.plain.cpu
  third.shared.cpu = 1e6
  assert.deepEqual(unmet(all), [])
  assert.equal(judge(all).find(({ what }) => what.startsWith('chrome: main-thread CPU')).figure, 0.9)
})

test('a missing measurement does not meet its budget', () => {
  const all = met()
  all.sizes = { wasm: undefined, page: undefined }
  all.browsers.chrome[0].shared.cpu = all.browsers.chrome[1].shared.cpu = NaN
  assert.deepEqual(unmet(all), [['the WASM module, kB, brotli 11', 'not measured'], ['a page\'s JavaScript, kB, gzipped', 'not measured'],
    ['chrome: main-thread CPU time for 5,000 events with list()', 'not measured']])
})

test('median() returns the middle value, and orders() reverses every second round', () => {
  assert.equal(median([5, 1, 9]), 5)
  assert.equal(median([1, 2, 3, 10]), 2.5)
  assert.deepEqual(orders(['a', 'b'], 3), [['a', 'b'], ['b', 'a'], ['a', 'b']])
})
