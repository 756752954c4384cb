// Tests a component in Vitest with ES modules. The parent test also runs it in Jest with CommonJS modules.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { act, cleanup, configure, render, screen } from '@testing-library/react'
import { createElement as h } from 'react'
import { ListWatchError, listWatch } from 'listwatch'
import { useListWatch } from 'listwatch/react'
import { fakeCluster } from 'listwatch/testing'

const pod = (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name } })

function Pods() {
  const { items, loaded, error, state } = useListWatch({ server: 'http://cluster', resource: 'pods' })
  if (error && !loaded) return h('p', null, error.code)
  return h('p', null, loaded ? `${items.map(({ name }) => name).join(' ')}${state.phase === 'live' ? '' : ` (${state.phase})`}` : 'loading')
}

configure({ asyncUtilTimeout: 30_000 })

let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(() => {
  cleanup()
  cluster.close()
})

test('a component shows the objects and their changes', async () => {
  const complaints = vi.spyOn(console, 'error')
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

test('updates arrive without advancing fake timers', async () => {
  vi.useFakeTimers()
  await act(async () => { render(h(Pods)) })
  act(() => cluster.apply(pod('web-0')))
  screen.getByText('web-0')
  vi.useRealTimers()
})

test('all entry points share one copy of the package', async () => {
  cluster.reject('pods', 403)
  render(h(Pods))
  await screen.findByText('forbidden')
  const pods = listWatch({ server: 'http://cluster', resource: 'pods' })
  await expect(pods.synced).rejects.toBeInstanceOf(ListWatchError)
})
