// Tests a component in Jest with CommonJS modules.
const { act, cleanup, configure, render, screen } = require('@testing-library/react')
const { createElement: h } = require('react')
const { ListWatchError, listWatch } = require('listwatch')
const { useListWatch } = require('listwatch/react')
const { fakeCluster } = require('listwatch/testing')

const pod = (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name } })

function Pods() {
  const { items, loaded, error, stale } = useListWatch({ server: 'http://cluster', resource: 'pods' })
  if (error && !loaded) return h('p', null, error.code)
  return h('p', null, loaded ? `${items.map(({ name }) => name).join(' ')}${stale ? ' (stale)' : ''}` : 'loading')
}

configure({ asyncUtilTimeout: 30_000 })

let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(() => {
  cleanup()
  cluster.close()
})

test('a component shows the objects and their changes', async () => {
  const complaints = jest.spyOn(console, 'error')
  cluster.apply(pod('web-0'))
  render(h(Pods))
  screen.getByText('loading')
  await screen.findByText('web-0')
  act(() => cluster.apply(pod('web-1')))
  screen.getByText('web-0 web-1')
  act(() => cluster.interrupt())
  screen.getByText('web-0 web-1 (stale)')
  expect(complaints).not.toHaveBeenCalled()
})

test('fake timers need not advance', async () => {
  jest.useFakeTimers()
  await act(async () => { render(h(Pods)) })
  act(() => cluster.apply(pod('web-0')))
  screen.getByText('web-0')
  jest.useRealTimers()
})

test('all entry points share one copy of the package', async () => {
  cluster.reject('pods', 403)
  render(h(Pods))
  await screen.findByText('forbidden')
  const pods = listWatch({ server: 'http://cluster', resource: 'pods' })
  await expect(pods.synced).rejects.toBeInstanceOf(ListWatchError)
})
