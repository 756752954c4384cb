import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { all, byId, press, reload, texts, textOf, turn } from './support/page.js'
import { Detail, isSecret } from '../detail.js'
import { created, name } from '../columns/format.js'
import { History } from '../history.js'
import { Row } from '../row.js'

const NOW = 1_000_000
const pods = { group: '', plural: 'pods', kind: 'Pod' }
const item = (resourceVersion, more, name = 'web', namespace = 'shop') => ({
  key: `${namespace}/${name}`, namespace, name, resourceVersion, object: { metadata: { name, resourceVersion }, ...more },
})
// Simulates Versions. `at` returns the answer for a resourceVersion.
const versions = (answers = {}) => ({ arrivals: 0, asked: [], at(version, how) { this.asked.push([version, how]); return answers[version] } })
const modified = (old, one, more) => ({ change: { type: 'modified', key: one.key, item: one, old: old.object, object: one.object, finalStateUnknown: false }, at: NOW - 5000, before: '10', after: '20', ...more })

let detail, history, closed, chosen
beforeEach(() => {
  reload()
  closed = 0
  history = new History()
  chosen = []
  detail = new Detail(byId('detail'), { close: () => closed++, choose: (tab) => chosen.push(tab) })
})
const NONE = { items: [], listed: true }, NOWHERE = []
function show(row, full, { resource = pods, now = NOW, events = NONE, ...place } = {}) {
  const source = { history, resource, columns: [name, created], versionsOf: () => full, eventsOf: () => events, ownedOf: () => NOWHERE }
  detail.show(row, source, { tab: '', namespace: '', resources: NOWHERE, ...place }, now)
}
const yaml = () => texts('.yaml .line')
const copy = () => byId('detail').querySelector('header .quiet')

test('the details pane shows the kind, the name and the version', () => {
  assert.equal(detail.open, false)
  show(new Row(item('7')), undefined)
  assert.equal(detail.open, true)
  assert.deepEqual([textOf('.kind'), textOf('#detail-name'), textOf('.sub')], ['Pod', 'web', 'in shop · version 7'])
  assert.equal(byId('detail').classList.contains('gone'), false)
  show(new Row(item('8', {}, 'node-1', '')), undefined)
  assert.equal(textOf('.sub'), 'version 8')
})

test('the details pane can be closed and focused', () => {
  show(new Row(item('7')), undefined)
  const focused = []
  byId('detail-name').focus = (how) => focused.push(how)
  detail.focus()
  assert.deepEqual(focused, [{ preventScroll: true }])
  const button = byId('detail').querySelector('[aria-label="Close"]')
  assert.equal(button.title, 'Close (Esc)')
  button.dispatchEvent(new Event('click'))
  assert.equal(closed, 1)
  detail.close()
  assert.equal(detail.open, false)
})

test('the details pane is accessible to screen readers and the keyboard', () => {
  assert.equal(byId('detail-name').tabIndex, -1)
  const pre = byId('detail').querySelector('pre.yaml')
  assert.deepEqual([pre.tabIndex, pre.getAttribute('aria-label')], [0, 'The object as YAML'])
})

const tabs = () => all('[role="tab"]').map((tab) => [tab.textContent, tab.getAttribute('aria-selected'), tab.tabIndex, byId(tab.getAttribute('aria-controls')).hidden])

test('only the panel of the selected tab is visible, and the keyboard selects tabs', () => {
  show(new Row(item('7')), undefined)
  assert.deepEqual(tabs(), [['Overview', 'true', 0, false], ['YAML', 'false', -1, true], ['Events', 'false', -1, true], ['Changes', 'false', -1, true]])
  for (const tab of all('[role="tab"]')) assert.equal(byId(tab.getAttribute('aria-controls')).getAttribute('aria-labelledby'), tab.id)
  show(new Row(item('7')), undefined, { tab: 'yaml' })
  assert.deepEqual(tabs().map(([, selected]) => selected), ['false', 'true', 'false', 'false'])
  const [first, second, , last] = all('[role="tab"]')
  second.dispatchEvent(new Event('click'))
  for (const [tab, key] of [[second, 'ArrowRight'], [second, 'ArrowLeft'], [first, 'ArrowLeft'], [last, 'ArrowRight'], [second, 'End'], [second, 'Home'], [second, 'x']]) press(tab, key)
  assert.deepEqual(chosen, ['yaml', 'events', 'overview', 'changes', 'overview', 'changes', 'overview'])
  assert.equal(document.activeElement, first)
})

test('the events tab lists events newest first, with their ages and links', () => {
  const event = (name, object, at) => ({ key: `shop/${name}`, object: { reason: name, message: `${name} it`, lastTimestamp: new Date(at).toISOString(), ...object } })
  const events = { items: [event('Pulled', { type: 'Normal' }, NOW - 9000), event('BackOff', { type: 'Warning', count: 3 }, NOW - 2000)], listed: true }
  show(new Row(item('7')), undefined, { tab: 'events', events })
  const lines = () => all('.events li').map((li) => ['a', '.paths', '.ago', '.part'].map((part) => textOf(part, li)))
  assert.deepEqual(lines(), [['BackOff', '3 times', '2s ago', 'BackOff it'], ['Pulled', '', '9s ago', 'Pulled it']])
  assert.equal(document.querySelector('.events a').getAttribute('href'), '#/v1/events?sel=shop/BackOff')
  show(new Row(item('7')), undefined, { tab: 'events', events, now: NOW + 1000 })
  assert.equal(lines()[0][2], '3s ago')
  for (const [found, text] of [[NONE, /^No events\./], [{ items: [], listed: false }, /^Loading$/],
    [{ items: [], listed: false, cause: { code: 'forbidden', message: 'events is forbidden' } }, /^Not allowed: events is forbidden$/]]) {
    show(new Row(item('7')), undefined, { tab: 'events', events: found })
    assert.match(textOf('.events .none'), text)
  }
})

test('a deleted object is marked', () => {
  const row = new Row(item('7'))
  row.gone = true
  row.mark = { type: 'deleted', finalStateUnknown: false }
  show(row, undefined)
  assert.equal(textOf('.sub'), 'deleted · in shop · version 7')
  assert.ok(byId('detail').classList.contains('gone'))
  row.mark.finalStateUnknown = true
  show(row, undefined)
  assert.equal(textOf('.sub'), 'deleted while disconnected · in shop · version 7')
})

test('the message about a missing object is announced once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const missing = (name) => {
    detail.showMissing({ kind: 'Pod', name, namespace: 'shop' }, `${name} does not exist`)
    t.mock.timers.tick(10_000)
    const heard = byId('announcer').textContent
    byId('announcer').textContent = ''
    return [detail.open, byId('detail').className, textOf('.kind'), textOf('#detail-name'), textOf('.sub'), textOf('#detail > .none'), heard]
  }
  assert.deepEqual(missing('web'), [true, 'detail missing', 'Pod', 'web', 'in shop', 'web does not exist', 'web does not exist'])
  assert.equal(missing('web').at(-1), '')
  assert.equal(missing('db').at(-1), 'db does not exist')
  show(new Row(item('7')), undefined)
  assert.equal(byId('detail').className, 'detail')
})

test('the pane shows a message if an object has no changes', () => {
  show(new Row(item('7')), undefined)
  assert.deepEqual(texts('.changes > li'), ['No changes since this page was opened.'])
  assert.equal(document.querySelector('.changes > li').className, 'none')
})

test('changes are listed newest first with their ages, and only the newest is open', () => {
  const one = item('1', { n: 1 }), two = item('2', { n: 2 }), three = item('3', { n: 3 })
  history.add(modified(one, two, { at: NOW - 60_000 }))
  history.add(modified(two, three))
  show(new Row(three), undefined)
  assert.deepEqual(texts('.changes .ago'), ['5s ago', '1m ago'])
  assert.deepEqual(all('.changes details').map((e) => e.open), [true, false])
  const elements = all('.changes > li')
  show(new Row(three), undefined, { now: NOW + 1000 })
  assert.deepEqual(texts('.changes .ago'), ['6s ago', '1m ago'])
  assert.ok(all('.changes > li').every((element, i) => element === elements[i]), 'the elements must be reused')
  history.add(modified(three, item('4', { n: 4 })))
  show(new Row(item('4', { n: 4 })), undefined)
  assert.deepEqual(all('.changes > li').slice(1), elements)
})

test('selecting another object replaces the list of changes', () => {
  const a = [item('1', { n: 1 }), item('2', { n: 2 })], b = [item('1', { m: 1 }, 'other'), item('2', { m: 2 }, 'other')]
  history.add(modified(...a))
  history.add(modified(...b))
  show(new Row(a[1]), undefined)
  show(new Row(b[1]), undefined)
  assert.deepEqual(texts('.changes .paths'), ['m'])
  show(new Row(item('1', {}, 'third')), undefined)
  assert.equal(all('.changes > li').length, 1)
})

test('a change is redrawn when its full objects arrive and stays collapsed', () => {
  const old = item('1', { n: 1 }), now = item('2', { n: 2 }), answers = {}, full = versions(answers), row = new Row(now)
  history.add(modified(old, now))
  show(row, full)
  assert.deepEqual(texts('.changes .paths'), ['n'])
  document.querySelector('.changes details').open = false
  const before = document.querySelector('.changes > li')
  show(row, full)
  assert.equal(document.querySelector('.changes > li'), before)
  Object.assign(answers, { 1: { object: { ...old.object, full: 1 } }, 2: { object: { ...now.object, full: 2 } } })
  full.arrivals = 2
  show(row, full)
  assert.deepEqual(texts('.changes .paths'), ['n, full'])
  assert.equal(document.querySelector('.changes details').open, false)
  const after = document.querySelector('.changes > li')
  delete answers[1] // the old version is no longer available
  show(row, full)
  assert.equal(document.querySelector('.changes > li'), after, 'a complete change must not be redrawn')
})

test('the object is shown as YAML with marked changes', () => {
  const old = item('1', { a: { b: 1, c: 1 }, d: [1], e: 1 }), now = item('2', { a: { b: 2, c: 1 }, d: { x: 1 }, e: 1 })
  history.add(modified(old, now))
  show(new Row(now), undefined)
  assert.deepEqual(yaml(), ['metadata:\n', '  name: web\n', '  resourceVersion: "2"\n', 'a:\n', '  b: 2\n', '  c: 1\n', 'd:\n', '  x: 1\n', 'e: 1\n'])
  assert.deepEqual(texts('.yaml .changed'), ['  b: 2\n', 'd:\n', '  x: 1\n'])
  assert.deepEqual(texts('.yaml .changed .key'), ['b:', 'd:', 'x:'])
  show(new Row(item('9', { e: 1 }, 'other')), undefined)
  assert.deepEqual(texts('.yaml .changed'), [])
})

test('a field is not marked if its name only starts with the name of a changed field', () => {
  const old = item('1', { a: 1, ab: 1 }), now = item('2', { a: 2, ab: 1 })
  history.add(modified(old, now))
  show(new Row(now), undefined)
  assert.deepEqual(texts('.yaml .changed'), ['a: 2\n'])
})

test('the full object replaces the fields in the table when it arrives', () => {
  const one = item('7', { part: true }), answers = {}, full = versions(answers), row = new Row(one)
  show(row, full)
  assert.ok(yaml().includes('part: true\n'))
  assert.deepEqual(full.asked, [['7', { asOf: undefined, current: true }]])
  answers[7] = { object: { ...one.object, full: true } }
  full.arrivals++
  show(row, full)
  assert.ok(yaml().includes('full: true\n'))
  const before = document.querySelector('.yaml').firstChild
  show(row, full)
  assert.equal(document.querySelector('.yaml').firstChild, before, 'unchanged content must not be redrawn')
  assert.equal(document.querySelector('.yaml .comment'), null)
})

test('without a full object, the details pane shows the reason or a newer object', () => {
  const one = item('7', { part: true }), full = versions({ 7: { reason: 'the server answered 503' } })
  show(new Row(one), full)
  assert.equal(yaml()[0], '# Only the fields in the table are shown. The server did not return the rest: the server answered 503.\n')
  assert.ok(yaml().includes('part: true\n'))
  full.newest = { newest: true }
  show(new Row(one), full)
  assert.deepEqual(yaml(), ['newest: true\n'])
  full.at = () => undefined
  full.newest = { newest: 'again' }
  show(new Row(one), full)
  assert.deepEqual(yaml(), ['newest: again\n'])
})

test('the full object is requested at the resourceVersion of the last change, or at the version before a deletion', () => {
  const old = item('1', { n: 1 }), now = item('2', { n: 2 }), row = new Row(now)
  history.add(modified(old, now))
  const asOf = () => {
    const full = versions()
    show(row, full)
    return full.asked[0]
  }
  assert.deepEqual(asOf(), ['2', { asOf: '20', current: true }])
  row.gone = true
  assert.deepEqual(asOf(), ['2', { asOf: '10', current: true }])
})

test('the details pane of a Secret explains that its values are removed', () => {
  const resource = { group: '', plural: 'secrets', kind: 'Secret' }
  show(new Row(item('7')), undefined, { resource })
  assert.equal(yaml()[0], '# The values are removed from a Secret before it reaches this page.\n')
  assert.equal(isSecret(resource), true)
  assert.equal(isSecret({ group: '', plural: 'pods' }), false)
  assert.equal(isSecret({ group: 'example.com', plural: 'secrets' }), false)
})

test('an object is redrawn when the details pane opens again', () => {
  const row = new Row(item('7'))
  show(row, undefined)
  document.querySelector('.yaml').replaceChildren()
  detail.close()
  show(row, undefined)
  assert.equal(yaml().length, 3)
})

test('the object is copied as YAML, and the button shows the result until another object is drawn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: NOW })
  const copied = []
  let fail
  const clipboard = { writeText: async (text) => { if (fail) throw fail; copied.push(text) } }
  const click = async () => { copy().dispatchEvent(new Event('click')); await turn() }
  Object.defineProperty(navigator, 'clipboard', { get: () => clipboard.writeText && clipboard, configurable: true })
  assert.equal(copy().textContent, 'Copy YAML')
  await click()
  assert.deepEqual(copied, [], 'nothing must be copied while no object is shown')
  const row = new Row(item('7'))
  show(row, undefined)
  await click()
  assert.deepEqual(copied, ['metadata:\n  name: web\n  resourceVersion: "7"\n'])
  assert.equal(copy().textContent, 'Copied')
  t.mock.timers.tick(5000)
  assert.equal(byId('announcer').textContent, 'Copied')
  show(row, undefined)
  assert.equal(copy().textContent, 'Copied')
  fail = new Error('not allowed')
  await click()
  assert.equal(copy().textContent, 'Not copied: not allowed')
  show(new Row(item('8')), undefined)
  assert.equal(copy().textContent, 'Copy YAML')
  clipboard.writeText = undefined
  await click()
  assert.equal(copy().textContent, 'Not copied: the clipboard requires https or localhost')
})
