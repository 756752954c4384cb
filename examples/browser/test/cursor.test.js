import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cursor } from '../cursor.js'
import { LEAVING, Rows } from '../rows.js'

// Returns a cursor over the rows "a" to "e" and a log of its calls.
function setup({ open = false, route = {}, names = ['a', 'b', 'c', 'd', 'e'] } = {}) {
  const log = []
  const grid = { active: '', page: 3, reveal: (index) => log.push(`reveal ${index}`), focus: () => log.push('focus grid') }
  const detail = { open, focus: () => log.push('focus detail') }
  const navigation = { route: { selected: '', search: '', statuses: [], ...route }, go: (change) => log.push(change), close: () => log.push('close') }
  const cursor = new Cursor(grid, detail, { navigation, draw: () => log.push('draw') })
  const rows = cursor.rows = new Rows([])
  rows.apply(names.map((key) => ({ type: 'added', key, item: { key, object: {} }, initial: true })), 0)
  rows.update()
  return { cursor, grid, rows, log, taken: () => log.splice(0) }
}

test('without an active row, the first step selects the first row', () => {
  for (const [by, key, index] of [[1, 'a', 0], [0, 'a', 0], [-1, 'a', 0], [3, 'c', 2]]) {
    const { cursor, grid, log } = setup()
    cursor.move(by)
    assert.equal(grid.active, key)
    assert.deepEqual(log, [`reveal ${index}`, 'draw'])
  }
})

test('the cursor stays within the table', () => {
  const { cursor, grid } = setup()
  const at = (act) => { act(); return grid.active }
  assert.equal(at(() => cursor.move(1)), 'a')
  assert.equal(at(() => cursor.move(1)), 'b')
  assert.equal(at(() => cursor.page(1)), 'e')
  assert.equal(at(() => cursor.move(1)), 'e')
  assert.equal(at(() => cursor.page(-1)), 'b')
  assert.equal(at(() => cursor.page(-1)), 'a')
  assert.equal(at(() => cursor.edge(true)), 'e')
  assert.equal(at(() => cursor.edge(false)), 'a')
  assert.equal(at(() => cursor.move(0)), 'a')
})

test('an active row hidden by the search is ignored', () => {
  const { cursor, grid, rows } = setup()
  grid.active = 'e'
  rows.search('b')
  rows.update()
  cursor.move(1)
  assert.equal(grid.active, 'b')
})

test('the cursor moves from a removed row to the next row, or to the last row', () => {
  const { cursor, grid, rows, log } = setup({ open: true, names: ['a', 'b', 'c'] })
  const remove = (key) => {
    rows.apply([{ type: 'deleted', key }], 0)
    cursor.leaveRemoved()
    assert.equal(grid.active, key, 'a deleted row must stay active while it is visible')
    rows.sweep(LEAVING)
    cursor.leaveRemoved()
    rows.update()
    cursor.leaveRemoved()
    return grid.active
  }
  grid.active = 'b'
  assert.deepEqual([remove('b'), remove('c'), remove('a')], ['c', 'a', ''])
  assert.deepEqual(log, [], 'the route must not change, so that an open details pane keeps its object')
})

test('the cursor stays on a key that the table has never contained', () => {
  const { cursor, grid } = setup()
  grid.active = 'x'
  cursor.leaveRemoved()
  assert.equal(grid.active, 'x')
})

test('moving in an empty or missing table does nothing', () => {
  const { cursor, grid, log } = setup({ names: [] })
  cursor.move(1)
  cursor.rows = undefined
  cursor.move(1)
  cursor.open()
  assert.equal(grid.active, '')
  assert.deepEqual(log, [])
})

test('an open details pane follows the cursor', () => {
  const { cursor, log } = setup({ open: true })
  cursor.move(1)
  assert.deepEqual(log, ['reveal 0', { selected: 'a' }])
})

test('open() opens the details pane for the active row, and then focuses the pane', () => {
  const closed = setup()
  closed.cursor.open()
  assert.deepEqual(closed.taken(), [], 'without an active row, open() must do nothing')
  closed.cursor.move(2)
  closed.taken()
  closed.cursor.open()
  assert.deepEqual(closed.taken(), [{ selected: 'b' }])
  const open = setup({ open: true })
  open.grid.active = 'a'
  open.cursor.open()
  assert.deepEqual(open.taken(), ['focus detail'])
})

test('openTab() opens the details pane for the active row, or switches the tab of an open pane', () => {
  const closed = setup()
  closed.cursor.openTab('yaml')
  closed.cursor.move(1)
  closed.taken()
  closed.cursor.openTab('yaml')
  assert.deepEqual(closed.taken(), [{ selected: 'a', tab: 'yaml' }])
  const open = setup({ open: true })
  open.cursor.openTab('events')
  assert.deepEqual(open.taken(), [{ tab: 'events' }])
})

test('Escape closes the details pane, then clears the search and the status filter, and focuses the table', () => {
  const after = (route) => {
    const { cursor, log } = setup({ route })
    cursor.escape()
    return log
  }
  assert.deepEqual(after({ selected: 'a', search: 'x' }), ['close', 'focus grid'])
  assert.deepEqual(after({ search: 'x' }), [{ search: '', statuses: [] }, 'focus grid'])
  assert.deepEqual(after({ statuses: ['Failed'] }), [{ search: '', statuses: [] }, 'focus grid'])
  assert.deepEqual(after({}), ['focus grid'])
})
