// Tests the recipes of docs/react.md, which the parent test extracts to recipes.tsx.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { act, cleanup, configure, fireEvent, render, screen } from '@testing-library/react'
import { createElement as h } from 'react'
import { fakeCluster } from 'listwatch/testing'
import { session } from './oidc.mjs'
import { Nodes, Phase, PodList, PodTable, Signed, Team, token } from './recipes'

const pod = (name, phase, more) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name, ...more }, spec: { nodeName: 'n1' }, status: { phase } })

configure({ asyncUtilTimeout: 30_000 })

let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(() => {
  cleanup()
  cluster.close()
})

test('a list shows loading, errors and stale data', async () => {
  cluster.apply(pod('a', 'Running'))
  render(h(PodList, { namespace: 'default' }))
  screen.getByText('Loading')
  await screen.findByText('default/a Running')
  act(() => cluster.interrupt('no connection'))
  expect(screen.getByRole('alert').textContent).toBe('no connection')
  expect(screen.getByText('default/a Running').closest('section').style.opacity).toBe('0.5')
})

test('one component follows several collections', async () => {
  cluster.apply([pod('a', 'Running'), { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }])
  render(h(Nodes))
  await screen.findByText('n1: 1')
  render(h(Phase, { name: 'a' }))
  await screen.findByText('Running')
  render(h(Phase, { name: 'b' }))
  await screen.findByText('not found')
})

test('if access to one namespace is denied, the objects of other namespaces are still shown', async () => {
  cluster.apply(pod('a', 'Running', { namespace: 'team-a' }))
  cluster.reject('pods', 403, { namespace: 'team-b', message: 'no access' })
  render(h(Team))
  await screen.findByText('1 Pods team-b: no access')
})

test('a table renders only the visible rows and sorts all rows', async () => {
  // happy-dom computes no layout, but the table renders only the rows that fit into its height.
  for (const name of ['clientHeight', 'clientWidth']) Object.defineProperty(HTMLElement.prototype, name, { configurable: true, value: 480 })
  cluster.apply(Array.from({ length: 1000 }, (_, i) => pod(`p-${String(i).padStart(4, '0')}`, i === 999 ? 'Failed' : 'Running')))
  render(h(PodTable))
  await screen.findByText('default/p-0000')
  const rows = screen.getAllByRole('row')
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.length).toBeLessThan(100)
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('1000')
  fireEvent.click(screen.getByText('Phase'))
  expect(screen.getAllByRole('row')[0].textContent).toBe('default/p-0999 Failed ')
  act(() => cluster.delete(pod('p-0999')))
  expect(screen.getAllByRole('row')[0].textContent).toBe('default/p-0000 Running ')
})

test('the token function renews an expired token', async () => {
  session.user = { id_token: 'old', expired: false }
  expect(await token()).toBe('old')
  session.user.expired = true
  session.renewed = { id_token: 'new' }
  expect(await token()).toBe('new')
  session.renewed = null
  await expect(token()).rejects.toThrow('sign in again')
  render(h(Signed))
  await screen.findByText('0')
})
