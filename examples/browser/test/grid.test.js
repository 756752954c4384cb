import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { all, byId, reload, resized, size, texts } from './support/page.js'
import { Grid } from '../grid.js'
import { Line } from '../line.js'
import { Rows } from '../rows.js'
import { count, created, name, namespace } from '../columns/format.js'

const HEIGHT = 28, NOW = Date.parse('2030-01-01T00:01:00Z')
const note = { id: 'note', title: 'Note', width: 100, text: (o) => o.note ?? '', tone: (o) => o.tone, spare: true }
const extra = { ...note, id: 'extra', title: 'Extra', dot: true }
const columns = [{ ...name, width: [170, 3] }, note, extra, count('n', 'N', 50, (o) => o.n), created]
const item = (key, more) => ({ key, name: key, object: { metadata: { name: key, creationTimestamp: '2030-01-01T00:00:00Z' }, n: 1, ...more } })
const change = (type, of, more) => ({ type, key: of.key, item: of, initial: false, finalStateUnknown: false, ...more })
const names = (n) => Array.from({ length: n }, (_, i) => `web-${String(i).padStart(4, '0')}`)

let grid, element, told, rows
beforeEach(() => {
  reload()
  resized.length = 0
  element = byId('grid')
  size(element, 1000, 10 * HEIGHT)
  told = []
  grid = new Grid(element, { sort: (id) => told.push(`sort ${id}`), open: (key) => told.push(`open ${key}`), scrolled: () => told.push('scrolled') })
})
function show(n, label = 'Pods') {
  rows = new Rows(columns)
  rows.apply(names(n).map((key) => change('added', item(key), { initial: true })), 0)
  rows.update()
  grid.show(rows, columns, label)
  grid.draw(NOW)
}
const lines = () => all('.row', element).filter((row) => !row.hidden).sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))
const keys = () => lines().map(({ dataset }) => dataset.key)
const rowOf = (key) => lines().find(({ dataset }) => dataset.key === key)
const scroll = (top) => {
  element.scrollTop = top
  grid.draw(NOW)
}

test('the table has a header, a label and a size', () => {
  show(3, 'Pods in shop')
  assert.deepEqual(texts('[role="columnheader"] button', element), ['Name', 'Note', 'Extra', 'N', 'Age'])
  assert.deepEqual(all('[role="columnheader"]', element).map((e) => e.className), ['', '', '', 'end', 'end'])
  assert.deepEqual(['role', 'aria-label', 'aria-colcount', 'aria-rowcount'].map((a) => element.getAttribute(a)), ['grid', 'Pods in shop', '5', '4'])
  assert.deepEqual(['role', 'aria-rowindex'].map((a) => element.querySelector('.head').getAttribute(a)), ['row', '1'])
  assert.deepEqual(all('[role="rowgroup"]', element).map((e) => e.className), ['heads', 'body'])
  assert.ok(all('.head button', element).every((button) => button.tabIndex === 0), 'each column title must be reachable with Tab')
  assert.equal(element.querySelector('.body').style.height, `${3 * HEIGHT}px`)
})

test('a row has cells, a position and an index', () => {
  show(5)
  assert.deepEqual(keys(), names(5))
  const row = lines()[1]
  assert.deepEqual(texts('div', row), ['web-0001', '', '', '1', '1m'])
  assert.equal(row.style.transform, `translateY(${HEIGHT}px)`)
  assert.equal(row.getAttribute('role'), 'row')
  assert.equal(row.getAttribute('aria-rowindex'), '3')
  assert.deepEqual([...row.children].map((cell) => [cell.getAttribute('role'), cell.getAttribute('aria-colindex'), cell.className]),
    [['gridcell', '1', 'strong'], ['gridcell', '2', ''], ['gridcell', '3', 'dotted'], ['gridcell', '4', 'end'], ['gridcell', '5', 'end']])
})

test('only the visible rows and a few rows around them have elements', () => {
  show(1000)
  assert.deepEqual(keys(), names(1000).slice(0, 16))
  assert.equal(all('.row', element).length, 23)
  scroll(100 * HEIGHT)
  assert.deepEqual(keys(), names(1000).slice(94, 116))
  scroll(100 * HEIGHT + 1)
  assert.deepEqual(keys(), names(1000).slice(94, 117))
  assert.equal(all('.row', element).length, 23)
  assert.equal(rowOf('web-0100').style.transform, `translateY(${100 * HEIGHT}px)`)
  scroll(990 * HEIGHT)
  assert.deepEqual(keys(), names(1000).slice(984))
  assert.equal(new Set(all('.row', element).map(({ id }) => id)).size, 23)
})

test('a larger table creates more rows', () => {
  show(100)
  size(element, 1000, 20 * HEIGHT)
  resized[0]()
  assert.deepEqual(told, ['scrolled'])
  grid.draw(NOW)
  assert.deepEqual(keys(), names(100).slice(0, 26))
  assert.deepEqual(texts('div', lines()[20]), ['web-0020', '', '', '1', '1m'])
  assert.equal(all('.row', element).length, 33)
})

test('rows that leave the view are hidden', () => {
  show(3)
  rows.search('0001')
  rows.update()
  grid.draw(NOW)
  assert.deepEqual(keys(), ['web-0001'])
  assert.equal(lines()[0].getAttribute('aria-rowindex'), '2')
})

test('a change updates the strings and colors of the cells, and the mark of the row', () => {
  show(3)
  rows.apply([change('modified', item('web-0001', { note: 'a note of more than 18 letters', tone: 'bad', n: 7 }))], NOW)
  rows.update()
  grid.draw(NOW)
  const row = rowOf('web-0001'), cells = [...row.children]
  assert.deepEqual(cells.map((cell) => cell.textContent), ['web-0001', 'a note of more than 18 letters', 'a note of more than 18 letters', '7', '1m'])
  assert.deepEqual(cells.map((cell) => cell.dataset.tone), [undefined, 'bad', 'bad', undefined, undefined])
  assert.deepEqual(cells.map((cell) => cell.title), ['', 'a note of more than 18 letters', 'a note of more than 18 letters', '', ''])
  assert.equal(row.dataset.mark, 'modified')
  assert.equal(row.classList.contains('gone'), false)
  rows.apply([change('modified', item('web-0001', { note: '18 letters exactly' }))], NOW)
  grid.draw(NOW)
  assert.equal(rowOf('web-0001').children[1].hasAttribute('title'), false)
  assert.equal(rowOf('web-0001').children[1].dataset.tone, undefined)
  rows.apply([change('deleted', item('web-0001'))], NOW)
  grid.draw(NOW)
  assert.deepEqual([rowOf('web-0001').classList.contains('gone'), rowOf('web-0001').dataset.mark], [true, 'deleted'])
})

test('an unchanged row is not redrawn except for its age', () => {
  show(2)
  const [first] = lines(), text = first.querySelector('.start').firstChild
  text.nodeValue = 'untouched'
  grid.draw(NOW + 120_000)
  assert.equal(first.children[0].textContent, 'untouched')
  assert.equal(first.querySelector('.start').firstChild, text)
  assert.equal(first.children[4].textContent, '3m')
})

test('a long name is split, so that its end remains visible in a narrow cell', () => {
  const parts = () => texts('span', lines()[0].children[0])
  for (const [key, expected] of [['checkout-7d9f8b6c5d-x2k4p', ['checkout-7d9f8b6', 'c5d-x2k4p']], ['web-7d9f8b6c5-x2k4', ['web-7d9f8b6c5-x2k4', '']]]) {
    rows = new Rows(columns)
    rows.apply([change('added', item(key), { initial: true })], 0)
    rows.update()
    grid.show(rows, columns, 'Pods')
    grid.draw(NOW)
    assert.deepEqual(parts(), expected)
    assert.equal(lines()[0].children[0].textContent, key)
  }
})

test('the user chooses the columns of the table', () => {
  show(1)
  const shown = () => all('[role="columnheader"]', element).filter((e) => !e.hidden).map((e) => e.textContent)
  grid.choose(['name', 'age'])
  assert.deepEqual(shown(), ['Name', 'Age'])
  grid.choose([])
  assert.equal(shown().length, 5)
})

test('a row without a time shows a dash', () => {
  rows = new Rows(columns)
  rows.apply([change('added', { key: 'a', name: 'a', object: { metadata: { name: 'a' } } }, { initial: true })], 0)
  rows.update()
  grid.show(rows, columns, 'Pods')
  grid.draw(NOW)
  assert.equal(lines()[0].children[4].textContent, '—')
})

test('the visible active row is selected and is the active descendant', () => {
  show(1000)
  grid.active = 'web-0003'
  grid.draw(NOW)
  const selected = () => all('[aria-selected="true"]', element).filter((e) => !e.hidden).map(({ dataset }) => dataset.key)
  assert.deepEqual(selected(), ['web-0003'])
  assert.equal(byId(element.getAttribute('aria-activedescendant')).dataset.key, 'web-0003')
  assert.equal(rowOf('web-0004').getAttribute('aria-selected'), 'false')
  scroll(500 * HEIGHT)
  assert.equal(element.hasAttribute('aria-activedescendant'), false)
  assert.deepEqual(selected(), [])
})

test('a hidden row is not the active descendant', () => {
  show(3)
  grid.active = 'web-0002'
  grid.draw(NOW)
  rows.search('0001')
  rows.update()
  grid.draw(NOW)
  assert.equal(element.hasAttribute('aria-activedescendant'), false)
})

test('a click on a row opens the row, and a click on a header sorts the table', () => {
  show(3)
  lines()[1].children[0].dispatchEvent(new Event('click', { bubbles: true }))
  element.querySelector('.body').dispatchEvent(new Event('click', { bubbles: true }))
  all('.head button', element)[3].dispatchEvent(new Event('click', { bubbles: true }))
  element.dispatchEvent(new Event('scroll'))
  assert.deepEqual(told, ['open web-0001', 'sort n', 'scrolled'])
})

test('the sort column is marked', () => {
  show(1)
  const marks = () => all('[role="columnheader"]', element).map((e) => e.getAttribute('aria-sort'))
  grid.sorted('n', true)
  assert.deepEqual(marks(), ['none', 'none', 'none', 'descending', 'none'])
  grid.sorted('name', false)
  assert.deepEqual(marks(), ['ascending', 'none', 'none', 'none', 'none'])
})

test('switching to another collection replaces the rows and scrolls to the top', () => {
  show(100)
  scroll(50 * HEIGHT)
  show(2, 'Nodes')
  assert.equal(element.scrollTop, 0)
  assert.deepEqual(keys(), names(2))
  assert.equal(all('.head > *', element).length, 5)
})

test('a narrow table hides spare columns, then ages and numbers, starting with the rightmost column', () => {
  const least = 170 + 50 + 64 + 16
  const shown = () => {
    const hidden = [...all('[role="columnheader"]', element), ...lines()[0].children].map((e) => e.hidden)
    assert.deepEqual(hidden.slice(0, 5), hidden.slice(5), 'the header and the cells must hide the same columns')
    return columns.filter((_, i) => !hidden[i]).map(({ id }) => id).join(' ')
  }
  const style = (property) => element.style.getPropertyValue(property)
  const fit = (width) => {
    size(element, width, 10 * HEIGHT)
    resized[0]()
  }
  show(1)
  assert.equal(shown(), 'name note extra n age')
  assert.equal(style('--columns'), 'minmax(170px, 3fr) 100px 100px 50px 64px')
  fit(least + 200)
  assert.equal(shown(), 'name note extra n age')
  fit(least + 199)
  assert.equal(shown(), 'name note n age')
  assert.equal(style('--columns'), 'minmax(170px, 3fr) 100px 50px 64px')
  assert.equal(style('--least'), `${least + 100}px`)
  fit(least)
  assert.equal(shown(), 'name n age')
  assert.equal(style('--least'), `${least}px`)
  fit(least - 1)
  assert.equal(shown(), 'name n')
  fit(100)
  assert.equal(shown(), 'name')
  show(1)
  assert.equal(shown(), 'name', 'new rows must hide the same columns')
})

test('in a narrow table, the namespace moves below the name before ages are hidden', () => {
  const least = 128 + 170 + 50 + 64 + 16
  const withNamespace = [namespace, ...columns]
  rows = new Rows(withNamespace)
  rows.apply(names(200).map((key) => change('added', item(key, { metadata: { name: key, namespace: 'shop' } }), { initial: true })), 0)
  rows.update()
  const draw = (width) => {
    size(element, width, 10 * HEIGHT)
    resized[0]()
    grid.draw(NOW)
  }
  const titles = () => withNamespace.filter((_, i) => !all('[role="columnheader"]', element)[i].hidden).map(({ id }) => id).join(' ')
  const cells = (key) => [...rowOf(key).children].filter((cell) => !cell.hidden).map((cell) => [cell.textContent, cell.className])
  grid.show(rows, withNamespace, 'Pods')
  draw(least)
  assert.equal(titles(), 'namespace name n age')
  assert.deepEqual(cells('web-0000'), [['shop', ''], ['web-0000', 'strong'], ['1', 'end'], ['—', 'end']])

  scroll(100 * HEIGHT)
  draw(least - 1)
  assert.equal(titles(), 'name n age')
  assert.deepEqual(cells('web-0100'), [['shop', 'lower'], ['web-0100', 'strong upper'], ['1', 'end'], ['—', 'end']])
  const tall = 44
  assert.equal(element.scrollTop, 100 * tall, 'the first visible row must stay')
  assert.equal(element.querySelector('.body').style.height, `${200 * tall}px`)
  assert.equal(rowOf('web-0100').style.transform, `translateY(${100 * tall}px)`)
  grid.reveal(0)
  assert.equal(element.scrollTop, 0)
  grid.reveal(199)
  assert.equal(element.scrollTop, 200 * tall + HEIGHT + 2 - 10 * HEIGHT)
  assert.equal(grid.page, 4)

  draw(least)
  assert.deepEqual(cells('web-0199'), [['shop', ''], ['web-0199', 'strong'], ['1', 'end'], ['—', 'end']])
})

test('the namespace is below the first column with a flexible width', () => {
  const line = new Line('row', [namespace, created, note, name])
  line.arrange([true, false, false, false], 0)
  const [lower, , , upper] = line.element.children
  assert.deepEqual([lower.style.gridColumn, lower.hidden, lower.className, upper.className], ['3', false, 'lower', 'strong upper'])
})

test('a row is scrolled into view below the header', () => {
  show(1000)
  const at = (index) => { grid.reveal(index); return element.scrollTop }
  assert.equal(at(3), 0)
  assert.equal(at(8), 2)
  assert.equal(at(20), 20 * HEIGHT + HEIGHT - (9 * HEIGHT - 2))
  const top = element.scrollTop
  assert.equal(at(18), top, 'revealing a visible row must not scroll the table')
  assert.equal(at(5), 5 * HEIGHT)
})

test('a page step is two rows shorter than the table', () => {
  assert.equal(grid.page, 8)
  size(element, 1000, 2 * HEIGHT)
  assert.equal(grid.page, 1)
  size(element, 1000, 10 * HEIGHT + 5)
  assert.equal(grid.page, 8)
})

test('focusing the table does not scroll it', () => {
  const focused = []
  element.focus = (how) => focused.push(how)
  grid.focus()
  assert.deepEqual(focused, [{ preventScroll: true }])
})

test('a table without rows can be drawn', () => {
  grid.draw(NOW)
  assert.equal(element.getAttribute('aria-rowcount'), '1')
})

test('sortBy() identifies a column by its position among the visible columns', () => {
  show(1)
  told.length = 0
  for (const n of [1, 2, 9]) grid.sortBy(n)
  assert.deepEqual(told, ['sort name', 'sort note'])
})
