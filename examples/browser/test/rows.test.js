import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEAVING, MARKED, Rows } from '../rows.js'
import { Order } from '../order.js'
import { count, created, name } from '../columns/format.js'

const columns = [name, count('n', 'N', 50, (o) => o.n)]
const item = (key, n, labels = {}) => ({ key, name: key, object: { metadata: { name: key, labels }, n } })
const change = (type, of, more) => ({ type, key: of.key, item: of, initial: false, ...more })
const keys = (rows) => rows.view.map((row) => row.key).join(' ')
const readAll = (rows) => rows.read(() => false)

// Computes the keys of the expected view from all objects.
function expected(all, term, column, sign) {
  const value = ({ key, object }) => (column === 'n' ? object.n : column ? key.replace(/\d+/, (d) => d.padStart(12, '0')) : key)
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
  return [...all.values()].filter((one) => one.key.includes(term))
    .sort((a, b) => sign * (order(value(a), value(b)) || order(a.key, b.key))).map((one) => one.key).join(' ')
}

test('the view always equals a view computed from scratch', () => {
  let seed = 7
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n
  const rows = new Rows(columns), all = new Map()
  let now = 0, term = '', column = '', sign = 1
  for (let step = 0; step < 3000; step++) {
    const key = `web-${random(60)}`
    if (random(3) && all.has(key)) {
      rows.apply([change('deleted', all.get(key))], now)
      all.delete(key)
      rows.sweep(now += LEAVING)
    } else {
      const made = item(key, random(5))
      rows.apply([change(all.has(key) ? 'modified' : 'added', made)], now)
      all.set(key, made)
    }
    if (random(20) === 0) rows.sort(column = ['', 'n', 'name'][random(3)], (sign = random(2) ? 1 : -1) < 0)
    if (random(20) === 0) rows.search(term = ['', 'web-1', '5'][random(3)])
    if (random(3)) continue // applies several changes before most checks
    readAll(rows)
    rows.update()
    assert.equal(keys(rows), expected(all, term, column, sign))
    for (const row of rows.view) assert.equal(rows.view[rows.indexOf(row)], row)
  }
})

test('a change marks the changed cells for a while', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('a', 1), { initial: true })], 0)
  rows.get('a').read(columns)
  assert.equal(rows.get('a').mark, undefined, 'objects from the first list must not be marked')
  rows.apply([change('modified', item('a', 2))], 10)
  rows.get('a').read(columns)
  assert.deepEqual(rows.get('a').mark, { type: 'modified', at: 10, finalStateUnknown: undefined, cells: [1] })
  assert.equal(rows.sweep(10 + MARKED), false)
  assert.equal(rows.get('a').mark, undefined)
})

test('all changes between two redraws are marked', () => {
  const three = [...columns, count('m', 'M', 50, (o) => o.m)], rows = new Rows(three)
  const version = (n, m) => ({ ...item('a', n), object: { metadata: { name: 'a' }, n, m } })
  rows.apply([change('added', version(1, 1), { initial: true })], 0)
  rows.apply([change('modified', version(2, 1), { old: version(1, 1).object })], 10)
  rows.apply([change('modified', version(2, 2), { old: version(2, 1).object })], 20)
  rows.get('a').read(three)
  assert.deepEqual(rows.get('a').mark.cells, [1, 2])
})

test('a deleted row disappears after a while unless it is recreated', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('a', 1)), change('added', item('b', 1))], 0)
  rows.apply([change('deleted', item('a', 1)), change('deleted', item('b', 1))], 10)
  rows.apply([change('added', item('b', 2))], 20)
  rows.update()
  assert.equal(keys(rows), 'a b')
  assert.equal(rows.get('a').gone, true)
  assert.deepEqual([rows.size, rows.shown], [1, 1])
  rows.sweep(10 + LEAVING)
  rows.update()
  assert.equal(keys(rows), 'b')
  assert.equal(rows.get('b').gone, false)
  assert.deepEqual([rows.size, rows.shown], [1, 1])
})

test('a search for name=value matches only the exact label, node or owner', () => {
  const rows = new Rows(columns)
  const owned = { ...item('d', 1), object: { metadata: { ownerReferences: [{ name: 'web-1' }] }, spec: { nodeName: 'n1' } } }
  for (const one of [item('a', 1, { app: 'app7' }), item('b', 1, { app: 'app70' }), item('c', 1, { 'example.com/app': 'app7' }), owned]) rows.apply([change('added', one)], 0)
  const found = (text) => {
    rows.search(text)
    readAll(rows)
    rows.update()
    return keys(rows)
  }
  for (const [text, expected] of [['app=app7', 'a c'], ['APP=App70', 'b'], ['example.com/app=app7', 'c'], ['pp=app7', ''], ['app=app', ''], ['app=', 'a b c'],
    ['app7', 'a b c'], ['app=app7 c', 'c'], ['node=n1', 'd'], ['node=n', ''], ['owner=web-1', 'd'], ['owner=web', '']]) assert.equal(found(text), expected, text)
})

test('a search matches labels as name=value and requires all words', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('a', 1, { app: 'web' })), change('added', item('b', 1, { app: 'db' }))], 0)
  rows.search('APP=web')
  readAll(rows)
  rows.update()
  assert.equal(keys(rows), 'a')
  rows.search('app=web b')
  rows.update()
  assert.equal(keys(rows), 'a', 'web also contains b')
})

test('ages are sorted with the youngest first and missing ages last', () => {
  const rows = new Rows([name, created])
  const born = (key, creationTimestamp) => ({ key, name: key, object: { metadata: { name: key, creationTimestamp } } })
  const all = [born('old', '2030-01-01T00:00:00Z'), born('none'), born('young', '2030-01-01T00:01:00Z')]
  rows.apply(all.map((one) => change('added', one)), 0)
  for (const [descending, order] of [[false, 'young old none'], [true, 'old young none']]) {
    rows.sort('age', descending)
    readAll(rows)
    rows.update()
    assert.equal(keys(rows), order)
  }
})

test('objects are parsed only for drawing, sorting or searching', () => {
  const rows = new Rows(columns)
  let looks = 0
  const lazy = (key, n) => ({ ...item(key, n), get object() { return looks++, item(key, n).object } })
  const names = Array.from({ length: 100 }, (_, i) => `a-${i}`)
  rows.apply(names.map((name, i) => change('added', lazy(name, i), { initial: true })), 0)
  rows.apply([change('modified', lazy('a-7', 8), { old: item('a-7', 7).object })], 0)
  assert.equal(readAll(rows), false)
  rows.update()
  assert.deepEqual([rows.view.length, looks], [100, 0])
  rows.get('a-7').read(columns)
  assert.deepEqual([rows.get('a-7').mark.cells, looks], [[1], 1], 'the old object must be compared even though it was never drawn')
  rows.sort('n', true)
  readAll(rows)
  rows.update()
  assert.deepEqual([rows.view[0].key, looks], ['a-99', 100])
})

const rowOf = (...more) => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('a', 1), { initial: true }), ...more], 0)
  return { rows, row: rows.get('a') }
}

test('an unread row is compared with its object before the first change', () => {
  const { row } = rowOf(change('added', item('a', 5), { initial: true }), change('modified', item('a', 2), { old: item('a', 1).object }))
  row.read(columns)
  assert.deepEqual(row.mark.cells, [1])
})

test('a row that was read before is compared with the strings that it shows', () => {
  const { rows, row } = rowOf()
  row.read(columns)
  rows.apply([change('modified', item('a', 2), { old: item('a', 2).object })], 1)
  row.read(columns)
  assert.deepEqual(row.mark.cells, [1])
  rows.apply([change('modified', item('a', 2), { old: item('a', 1).object })], 2)
  row.read(columns)
  assert.deepEqual(row.mark.cells, [], 'a change that leaves the shown strings unchanged must not mark a cell')
})

test('a changed age does not mark a cell', () => {
  const aged = [name, created], rows = new Rows(aged)
  const born = (creationTimestamp) => ({ ...item('a', 1), object: { metadata: { name: 'a', creationTimestamp } } })
  rows.apply([change('added', born('2030-01-01T00:00:00Z'), { initial: true })], 0)
  rows.get('a').read(aged)
  rows.apply([change('modified', born('2030-01-02T00:00:00Z'))], 1)
  rows.get('a').read(aged)
  assert.deepEqual(rows.get('a').mark.cells, [])
})

test('a row computes the strings, values and colors of its columns', () => {
  const toned = [{ ...name, tone: (o, text) => `${text} ${o.n}` }, columns[1], created], rows = new Rows(toned)
  const one = { ...item('a', 3), object: { metadata: { name: 'a', creationTimestamp: '1970-01-01T00:00:01Z' }, n: 3 } }
  rows.apply([change('added', one, { initial: true })], 0)
  const row = rows.get('a')
  assert.deepEqual(row.read(toned), ['a', '3', ''])
  assert.deepEqual([row.values, row.tones], [[undefined, 3, 1000], ['a 3', undefined, undefined]])
})

test('the version of a row counts visible changes', () => {
  const { rows, row } = rowOf(), seen = []
  const after = (...changes) => { rows.apply(changes, 0); seen.push(row.version) }
  after(change('modified', item('a', 2)))
  after(change('deleted', item('a', 2)))
  after(change('added', item('a', 3)))
  rows.sweep(MARKED)
  seen.push(row.version)
  assert.equal(new Set([0, ...seen]).size, 5)
  assert.equal(row.gone, false)
})

test('deleting an unknown object changes nothing', () => {
  const { rows } = rowOf()
  rows.update()
  rows.apply([change('deleted', item('b', 1))], 0)
  assert.deepEqual([rows.size, rows.update(), rows.sweep(0)], [1, false, false])
})

test('marks and deleted rows expire on time', () => {
  assert.deepEqual([MARKED, LEAVING], [6000, 2500])
  const { rows, row } = rowOf(change('modified', item('a', 2), { finalStateUnknown: false }))
  assert.equal(rows.sweep(MARKED - 1), true)
  assert.equal(row.mark.type, 'modified')
  assert.equal(rows.sweep(MARKED), false)
  assert.equal(row.mark, undefined)
  rows.apply([change('deleted', item('a', 2), { finalStateUnknown: true })], 10_000)
  assert.equal(row.mark.finalStateUnknown, true)
  assert.equal(rows.sweep(10_000 + LEAVING - 1), true)
  assert.equal(rows.get('a'), row)
  assert.equal(rows.sweep(10_000 + LEAVING), false)
  assert.equal(rows.get('a'), undefined)
})

test('an expired change does not affect later comparisons', () => {
  const { rows, row } = rowOf(change('modified', item('a', 2), { old: item('a', 1).object }))
  rows.sweep(MARKED)
  rows.apply([change('modified', item('a', 3), { old: item('a', 3).object })], MARKED)
  row.read(columns)
  assert.deepEqual(row.mark.cells, [])
})

test('update() reports whether rows moved', () => {
  const { rows } = rowOf()
  assert.equal(rows.update(), true)
  assert.equal(rows.update(), false)
  for (const act of [() => rows.search('x'), () => rows.search(''), () => rows.sort('n', false), () => rows.apply([change('modified', item('a', 1))], 0)]) {
    act()
    assert.equal(rows.update(), true)
    assert.equal(rows.update(), false)
  }
})

test('a batch of any size is sorted and searched correctly', () => {
  for (const n of [200, 201]) {
    const rows = new Rows(columns)
    rows.sort('n', true)
    rows.update()
    rows.apply(Array.from({ length: n }, (_, i) => change('added', item(`k${String(i).padStart(3, '0')}`, i), { initial: true })), 0)
    readAll(rows)
    rows.update()
    assert.deepEqual(rows.view.map((row) => row.values[1]), Array.from({ length: n }, (_, i) => n - 1 - i))
    assert.ok(rows.view.every((row) => row.placed))
    rows.search('k000')
    rows.update()
    assert.deepEqual([rows.view.length, rows.get('k000').placed, rows.get('k001').placed], [1, true, false])
  }
})

test('reading rows can be interrupted and resumed', () => {
  const rows = new Rows(columns)
  rows.apply(['a', 'b', 'c'].map((key) => change('added', item(key, 1, { app: 'x' }), { initial: true })), 0)
  assert.equal(rows.read(() => assert.fail('enough() must not be called if there is no row to read')), false)
  rows.search('app=x')
  let budget = 2
  assert.equal(rows.read(() => budget-- === 0), true)
  rows.update()
  assert.equal(keys(rows), 'a b')
  assert.equal(rows.read(() => false), false)
  rows.update()
  assert.equal(keys(rows), 'a b c')
})

test('unread rows come last in ascending and descending order', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('b', 2), { initial: true }), change('added', item('a', 1), { initial: true })], 0)
  for (const descending of [false, true]) {
    rows.sort('n', descending)
    rows.apply([change('added', item(`new-${descending}`, 9), { initial: true })], 0)
    rows.get('a').read(columns)
    rows.get('b').read(columns)
    rows.update()
    assert.equal(rows.view.at(-1).key, `new-${descending}`)
    readAll(rows)
    rows.update()
  }
  assert.equal(keys(rows), 'new-true new-false b a', 'rows with equal values must be sorted by key')
})

test('rows are sorted by key if the column is unknown', () => {
  const { rows } = rowOf(change('added', item('b', 0), { initial: true }))
  rows.sort('nosuch', true)
  rows.update()
  assert.equal(keys(rows), 'b a')
})

test('a search matches keys of unread rows and ignores case', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('Shop/Web', 1), { initial: true }), change('added', item('db', 77), { initial: true })], 0)
  rows.search('  WEB   shop ')
  rows.update()
  assert.equal(keys(rows), 'Shop/Web')
  rows.search('77')
  readAll(rows)
  rows.update()
  assert.equal(keys(rows), 'db', 'the search must match the text of a column')
})

test('a search ignores case after the cells of the rows were read', () => {
  const rows = new Rows(columns)
  rows.apply([change('added', item('Shop/Web', 1), { initial: true })], 0)
  rows.get('Shop/Web').read(columns)
  rows.search('shop/WEB')
  rows.update()
  assert.equal(keys(rows), 'Shop/Web')
})

test('a changed row keeps its position until it is read', () => {
  const rows = new Rows(columns)
  rows.sort('n', false)
  rows.apply(['a', 'b', 'c'].map((key, i) => change('added', item(key, i), { initial: true })), 0)
  readAll(rows)
  rows.update()
  rows.apply([change('modified', item('a', 9))], 1)
  rows.update()
  assert.equal(keys(rows), 'a b c')
  readAll(rows)
  rows.update()
  assert.equal(keys(rows), 'b c a')
})

const state = { id: 'state', title: 'State', width: 50, text: (o) => o.state ?? '', dot: true }
const inState = (key, text) => ({ ...item(key, 1), object: { metadata: { name: key }, state: text } })
const counts = (rows) => {
  rows.read(() => false)
  rows.update()
  return Object.fromEntries([...rows.counts].sort())
}

test('rows are counted by status if requested', () => {
  const rows = new Rows([name, state])
  assert.equal(rows.hasStatus, true)
  assert.equal(new Rows(columns).hasStatus, false)
  rows.apply([change('added', inState('a', 'Running')), change('added', inState('b', 'Running')), change('added', inState('c', 'Failed')), change('added', inState('d', ''))], 0)
  assert.deepEqual(counts(rows), {})
  rows.counting = true
  assert.deepEqual(counts(rows), { Failed: 1, Running: 2 })
  rows.apply([change('modified', inState('a', 'Failed'))], 0)
  assert.deepEqual(counts(rows), { Failed: 2, Running: 1 })
  rows.search('b')
  assert.deepEqual(counts(rows), { Running: 1 })
  rows.search('')
  rows.apply([change('deleted', inState('c', 'Failed'))], 0)
  assert.deepEqual(counts(rows), { Failed: 1, Running: 1 }, 'a deleted row must not be counted while it is still visible')
  rows.apply([change('deleted', inState('a', 'Failed'))], 0)
  rows.search('')
  rows.sweep(LEAVING)
  assert.deepEqual(counts(rows), { Running: 1 })
})

test('the selected statuses filter the view, even after changes', () => {
  const rows = new Rows([name, state])
  rows.select(['Failed', 'Pending'])
  rows.apply([change('added', inState('a', 'Running')), change('added', inState('b', 'Pending')), change('added', inState('c', 'Failed'))], 0)
  counts(rows)
  assert.equal(keys(rows), 'b c')
  rows.apply([change('modified', inState('b', 'Running')), change('modified', inState('a', 'Failed'))], 0)
  rows.update()
  assert.equal(keys(rows), 'b c', 'until a row is read, its previous status must apply')
  counts(rows)
  assert.equal(keys(rows), 'a c')
  rows.select([])
  counts(rows)
  assert.equal(keys(rows), 'a b c')
})

// Counts the comparisons of an action, because each of them takes time if a table has 10,000 rows.
function comparisons(action) {
  const { compare } = Order.prototype
  let count = 0
  Order.prototype.compare = function (...pair) {
    count++
    return compare.apply(this, pair)
  }
  try {
    action()
  } finally {
    Order.prototype.compare = compare
  }
  return count
}

test('a search of many rows sorts nothing, and rows that are read in parts are sorted about once', () => {
  const rows = new Rows(columns), n = 5000, parts = 20
  rows.apply(Array.from({ length: n }, (_, i) => change('added', item(`web-${(i * 7919) % n}`, i % 7), { initial: true })), 0)
  rows.sort('n', false)
  rows.update()
  const sorting = comparisons(() => {
    for (let part = 0; part < parts; part++) {
      let left = n / parts
      rows.read(() => left-- <= 0)
      rows.update()
    }
  })
  assert.ok(sorting < n * (parts + Math.log2(n)), `${sorting} comparisons`)
  assert.equal(comparisons(() => {
    for (const text of ['w', 'we', 'web', 'web-1', '']) {
      rows.search(text)
      rows.update()
    }
  }), 0)
  assert.equal(rows.view.length, n)
})

test('a held row stays in the view until it is released, even if it is deleted or no longer matches', () => {
  const rows = new Rows(columns)
  rows.apply(['a', 'b', 'c'].map((key) => change('added', item(key, 1), { initial: true })), 0)
  rows.update()
  rows.hold(rows.get('b'))
  rows.apply([change('deleted', item('b', 1)), change('deleted', item('c', 1))], 10)
  rows.sweep(10 + MARKED)
  rows.update()
  assert.equal(keys(rows), 'a b')
  rows.search('a')
  rows.update()
  assert.equal(keys(rows), 'a b')
  rows.hold(undefined)
  rows.sweep(10 + MARKED)
  rows.update()
  assert.equal(keys(rows), 'a')
  assert.equal(rows.size, 1)
})
