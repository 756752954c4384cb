// Tests useListWatch with React's renderer, a happy-dom document and the embedded server.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { Window } from 'happy-dom'
import { ApiServer, REBUILT } from './apiserver.mjs'
import { serve, until } from './support.mjs'

const window = new Window()
Object.assign(globalThis, { window, document: window.document, navigator: window.navigator, requestAnimationFrame: (f) => setTimeout(f, 16), cancelAnimationFrame: clearTimeout })

const { StrictMode, createElement: h, startTransition, useLayoutEffect, useState } = await import('react')
const { flushSync } = await import('react-dom')
const { createRoot, hydrateRoot } = await import('react-dom/client')
const { renderToString } = await import('react-dom/server')
const { init, wake } = await import('../index.js')
const { useListWatch } = await import('../react.js')

let server, guarded, last = 0
before(async () => {
  [server, guarded] = await Promise.all([serve(), serve({ tokens: { good: true, weak: false } })])
  await init({ mode: 'main' })
})
after(async () => {
  await Promise.all([server.close(), guarded.close()])
  await window.happyDOM.close()
})
const roots = []
afterEach(async () => {
  roots.splice(0).forEach((root) => root.unmount())
  await until(async () => await watching() === 0)
})

const watching = async () => await server.command('watching') + await guarded.command('watching')
const namespace = () => `react-${++last}`
const put = (space, name, more) => server.put('pods', { metadata: { name, namespace: space }, ...more })
const names = (pods) => pods.list().map(({ name }) => name).join(' ')
function mount(element) {
  const container = document.createElement('div')
  const root = createRoot(container)
  roots.push(root)
  const render = (element) => flushSync(() => root.render(element))
  render(element)
  return { container, root, render, text: () => container.textContent }
}

test('a component shows the collection and its changes, and ends the watch when it unmounts', async () => {
  const space = namespace()
  await put(space, 'a')
  const phases = []
  const Pods = () => {
    const pods = useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 })
    phases.push(pods.state.phase)
    return names(pods)
  }
  const { root, text } = mount(h(Pods))
  assert.equal(text(), '')
  assert.equal(phases[0], 'waiting')
  await until(() => text() === 'a' && phases.at(-1) === 'live')
  await put(space, 'b')
  await until(() => text() === 'a b')
  assert.equal(await watching(), 1)
  root.unmount()
  await until(async () => await watching() === 0)
})

test('options are compared by value, and rendering again sends no requests', async () => {
  const space = namespace()
  let render
  const Pods = () => {
    [, render] = useState(0)
    return names(useListWatch({ indexes: { b: 'spec.b', a: 'spec.a' }, namespace: space, keepAlive: 0, resource: 'pods', server: new URL(server.url) }))
  }
  const Others = () => names(useListWatch({ server: new URL(server.url), resource: 'pods', namespace: space, keepAlive: 0, indexes: { a: 'spec.a', b: 'spec.b' } }))
  await put(space, 'a')
  const before = await server.command('requests')
  const { text } = mount([h(Pods, { key: 1 }), h(Others, { key: 2 })])
  await until(() => text() === 'aa')
  await until(async () => await watching() === 1)
  const asked = await server.command('requests')
  for (let i = 0; i < 10; i++) flushSync(() => render(i + 1))
  await put(space, 'b')
  await until(() => text() === 'a ba b')
  assert.equal(await server.command('requests'), asked)
  assert.ok(asked > before)
})

test('changed options open a new collection and close the previous one', async () => {
  const one = namespace(), two = namespace()
  await put(one, 'a')
  await put(two, 'b')
  const Pods = ({ space }) => names(useListWatch(space ? { server: server.url, resource: 'pods', namespace: space, keepAlive: 0 } : null))
  const { render, text } = mount(h(Pods, { space: one }))
  await until(() => text() === 'a')
  render(h(Pods, { space: two }))
  assert.equal(text(), '')
  await until(() => text() === 'b')
  await until(async () => await watching() === 1)
  render(h(Pods, { space: null }))
  assert.equal(text(), '')
  await until(async () => await watching() === 0)
})

test('StrictMode opens one collection', async () => {
  const space = namespace()
  await put(space, 'a')
  const before = await server.command('requests')
  const Pods = () => {
    const pods = useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 })
    return `${names(pods)} ${pods.state.phase}`
  }
  const { root, text } = mount(h(StrictMode, null, h(Pods)))
  await until(() => text() === 'a live')
  assert.equal(await server.command('requests'), before + 1) // a single streaming list
  assert.equal(await watching(), 1)
  root.unmount()
  await until(async () => await watching() === 0)
})

test('a component re-renders only if its selection changes', async () => {
  const space = namespace()
  await put(space, 'a')
  let sizes = 0, lists = 0
  const Size = () => { sizes++; return useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 }, (pods) => pods.size) }
  const List = () => {
    lists++
    return useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 }, (pods) => pods.list().map(({ name }) => name), (a, b) => a.join() === b.join()).join(' ')
  }
  const { text } = mount([h(Size, { key: 1 }), ':', h(List, { key: 2 })])
  await until(() => text() === '1:a')
  await until(async () => await watching() === 1)
  const before = [sizes, lists]
  for (let i = 0; i < 5; i++) await put(space, 'a', { spec: { i } })
  await put(space, 'b')
  await until(() => text() === '2:a b')
  assert.deepEqual([sizes, lists], before.map((n) => n + 1))
})

test('rendering with new inline functions returns the previous selection if it is equal', async () => {
  const space = namespace()
  await put(space, 'a')
  let shown
  const Pods = ({ renders }) => {
    shown = useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 }, (pods) => pods.list().map(({ name }) => name), (a, b) => a.join() === b.join())
    return `${renders} ${shown.join(' ')}`
  }
  const { render, text } = mount(h(Pods, { renders: 1 }))
  await until(() => text() === '1 a')
  const before = shown
  render(h(Pods, { renders: 2 }))
  assert.equal(text(), '2 a')
  assert.equal(shown, before)
})

for (const [difference, rebuilt] of Object.entries(REBUILT)) {
  test(`a component replaces the objects of a server within 10 s after it was rebuilt with ${difference}`, async (t) => {
    const api = new ApiServer('/api/v1/pods')
    api.rebuild({ version: 1000, names: ['a', 'b'] })
    await api.start()
    t.after(() => api.stop())
    const rendered = []
    const Pods = () => {
      const { items, state } = useListWatch({ server: api.url, resource: 'pods', keepAlive: 0, streamingLists: false })
      rendered.push(`${state.phase} ${items.map(({ uid }) => uid).join()}`)
      return rendered.at(-1)
    }
    const { root, text } = mount(h(Pods))
    const live = () => until(() => text() === `live ${api.objects.map(({ metadata }) => metadata.uid).join()}`)
    await live()
    await api.stop()
    await until(() => text() === 'stale a 1000,b 1000')
    rendered.length = 0
    api.rebuild(rebuilt)
    await api.start()
    wake()
    const waited = await live()
    assert.ok(waited < 10_000, `live after ${waited} ms`)
    assert.ok(!rendered.includes('live a 1000,b 1000'), 'the objects of the old server looked live')
    root.unmount()
  })
}

test('the token function from the last render is called', async () => {
  const seen = []
  let say
  const Pods = () => {
    const [word, set] = useState('none')
    say = set
    const { state } = useListWatch({ server: guarded.url, resource: 'pods', keepAlive: 0, token: () => {
      seen.push(word)
      if (word === 'none') throw new Error('not yet')
      return 'good'
    } })
    return state.phase
  }
  const { text } = mount(h(Pods))
  await until(() => text() === 'waiting')
  flushSync(() => say('later'))
  await until(() => text() === 'live')
  assert.equal(seen.at(-1), 'later')
})

test('components with different token functions do not share a collection, even after these functions are replaced', async () => {
  const asked = []
  const user = (name) => () => (asked.push(name), 'good')
  const ann = user('ann'), bob = user('bob')
  const Pods = ({ token }) => useListWatch({ server: guarded.url, resource: 'pods', keepAlive: 0, token }).state.phase
  const { render, text } = mount([h(Pods, { key: 1, token: ann }), h(Pods, { key: 2, token: ann })])
  await until(() => text() === 'livelive')
  await until(async () => await watching() === 1) // the server may still count the streaming list of the empty collection
  assert.equal(asked.includes('bob'), false)
  render([h(Pods, { key: 1, token: bob }), h(Pods, { key: 2, token: ann }), h(Pods, { key: 3, token: bob })])
  await until(async () => text() === 'livelivelive' && asked.includes('bob') && await watching() === 2)
  asked.length = 0
  await guarded.command('end')
  await until(async () => await watching() === 2 && new Set(asked).size === 2)
  assert.deepEqual([...new Set(asked)].sort(), ['ann', 'bob'])
  render([h(Pods, { key: 1, token: bob }), h(Pods, { key: 2, token: bob })])
  await until(async () => text() === 'livelive' && await watching() === 1)
})

test('a new inline token function does not open another collection', async () => {
  const asked = []
  let render
  const Child = ({ token }) => useListWatch({ server: guarded.url, resource: 'pods', keepAlive: 0, token }).state.phase
  const Parent = () => {
    const [n, set] = useState(0)
    render = set
    const token = () => (asked.push(n), 'good')
    return [h(Child, { key: 1, token }), h(Child, { key: 2, token }), useListWatch({ server: guarded.url, resource: 'pods', keepAlive: 0, token: () => 'good' }).state.phase]
  }
  const { text } = mount(h(Parent))
  await until(async () => text() === 'livelivelive' && await watching() === 2)
  const before = await guarded.command('requests')
  for (let n = 1; n <= 5; n++) {
    flushSync(() => render(n))
    await new Promise(setImmediate)
  }
  assert.deepEqual([await guarded.command('requests'), text()], [before, 'livelivelive'])
  await guarded.command('end')
  await until(() => asked.at(-1) === 5)
})

test('final errors and invalid options are returned, and the component does not throw', async () => {
  const Pods = ({ options }) => {
    const { error, loaded, state } = useListWatch(options)
    return `${state.phase} ${error?.code} ${error === state.cause} ${loaded}: ${error?.message}`
  }
  for (const [options, shown] of [
    [{ server: guarded.url, resource: 'pods', token: 'weak' }, /^stopped forbidden true false: /],
    [{ server: server.url, resource: 'podz' }, /^stopped invalid true false: .*unknown resource podz/],
    [{ server: server.url, resource: 'pods', namespaces: 'a' }, /^stopped invalid true false: .*namespaces; it must be an array of names/],
    [{ server: server.url, resource: 'pods', namespaces: ['a', ''] }, /^stopped invalid true false: .*namespaces; it must be an array of names/],
    [{ server: server.url, resource: 'pods', signal: AbortSignal.abort() }, /^stopped invalid true false: .*not accept a signal/],
  ]) {
    const { text } = mount(h(Pods, { options }))
    await until(() => shown.test(text()))
  }
})

test('a server renders an empty collection, and the page hydrates it', async (t) => {
  const space = namespace()
  await put(space, 'a')
  const Pods = () => {
    const pods = useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 })
    return h('p', null, `${pods.state.phase} ${names(pods)}`)
  }
  const html = renderToString(h(Pods))
  assert.equal(html, '<p>waiting </p>')
  assert.equal(renderToString(h(() => useListWatch({ resource: 'pods' }, (pods) => `${pods.by('x', 'y').length}${pods.get('a')}${pods.item('a')}`))), '0undefinedundefined')
  assert.equal(await watching(), 0)
  const container = document.createElement('div')
  container.innerHTML = html
  const complaints = t.mock.method(console, 'error')
  const root = hydrateRoot(container, h(Pods), { onRecoverableError: (error) => assert.fail(error) })
  roots.push(root)
  await until(() => container.textContent === 'live a')
  assert.equal(complaints.mock.callCount(), 0)
})

test('hydration with a selection logs nothing, and the server selects once per render', async (t) => {
  const space = namespace()
  await put(space, 'a')
  let selections = 0
  const Pods = () => h('p', null, useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 }, (pods) => {
    selections++
    return pods.list().map(({ name }) => name)
  }).join(' '))
  const complaints = t.mock.method(console, 'error')
  const html = renderToString(h(Pods))
  assert.deepEqual([html, selections], ['<p></p>', 1])
  const container = document.createElement('div')
  container.innerHTML = html
  roots.push(hydrateRoot(container, h(StrictMode, null, h(Pods)), { onRecoverableError: (error) => assert.fail(error) }))
  await until(() => container.textContent === 'a')
  assert.deepEqual(complaints.mock.calls.map(({ arguments: said }) => said.join(' ')), [])
})

test('every commit shows a consistent state while changes arrive', async () => {
  const space = namespace()
  const options = () => ({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 })
  const torn = [], seen = new Set()
  let container, show, interrupted = 0, rendering = false
  const check = () => {
    rendering = false
    const sizes = new Set([...container?.querySelectorAll('i') ?? []].map(({ textContent }) => textContent))
    if (sizes.size > 1) torn.push([...sizes].join(' '))
    sizes.forEach((size) => seen.add(size))
  }
  const Cell = () => {
    const size = useListWatch(options(), (pods) => pods.size)
    for (const end = performance.now() + 3; performance.now() < end;); // blocks for 3 ms, so that React yields between renders
    rendering = true
    useLayoutEffect(check)
    return h('i', null, size)
  }
  const Size = () => {
    useLayoutEffect(check)
    return h('i', null, useListWatch(options(), (pods) => pods.size))
  }
  const All = () => {
    const [on, set] = useState(false)
    show = set
    return [h(Size, { key: 'size' }), ...(on ? Array.from({ length: 8 }, (_, i) => h(Cell, { key: i })) : [])]
  }
  ({ container } = mount(h(All)))
  await until(async () => await watching() === 1)
  for (let i = 0; i < 15; i++) {
    startTransition(() => show(true))
    await until(() => rendering || container.querySelectorAll('i').length === 9)
    for (let j = 0; rendering && j < 5; j++) {
      await put(space, `pod-${i}-${j}`)
      if (rendering) interrupted++
    }
    await until(() => container.querySelectorAll('i').length === 9)
    startTransition(() => show(false))
    await until(() => container.querySelectorAll('i').length === 1)
  }
  assert.deepEqual(torn, [])
  assert.ok(seen.size > 1 && interrupted > 0, `the test saw only ${seen.size} states and ${interrupted} writes during a render`)
})

test('a component that mounts during a pending change shows the same state as the other components', async () => {
  const space = namespace()
  const Size = () => useListWatch({ server: server.url, resource: 'pods', namespace: space, keepAlive: 0 }, (pods) => pods.size)
  const { text } = mount(h(Size))
  await until(async () => await watching() === 1)
  await put(space, 'a')
  while (text() === '0') {
    const late = mount(h(Size))
    assert.equal(late.text(), text())
    roots.pop().unmount()
    await new Promise(setImmediate)
  }
})
