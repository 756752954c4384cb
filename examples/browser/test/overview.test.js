import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, texts } from './support/page.js'
import { columnsOf } from '../columns/index.js'
import { overview } from '../overview.js'
import { linksOf, referencesOf } from '../links.js'

const resource = (group, version, plural, kind, namespaced = true) => ({ group, version, plural, kind, namespaced, shortNames: [] })
const pods = resource('', 'v1', 'pods', 'Pod'), nodes = resource('', 'v1', 'nodes', 'Node', false)
const sets = resource('apps', 'v1', 'replicasets', 'ReplicaSet'), deployments = resource('apps', 'v1', 'deployments', 'Deployment')
const resources = [pods, nodes, sets, deployments, resource('', 'v1', 'namespaces', 'Namespace', false), resource('example.com', 'v1', 'pods', 'Pod')]
const metadata = { name: 'web-1', namespace: 'shop', creationTimestamp: '2030-01-01T00:00:00Z' }
const owned = { ...metadata, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' }] }
const hrefs = (object, of, chosen = '') => linksOf(object, of, resources, chosen).map(({ text, href }) => `${text} ${href}`)

test('a Pod links to its namespace, its owner and its node', () => {
  const pod = { metadata: owned, spec: { nodeName: 'n1' } }
  assert.deepEqual(hrefs(pod, pods), ['Namespace/shop #/v1/namespaces?sel=shop', 'ReplicaSet/web #/apps/v1/replicasets?sel=shop/web', 'Node/n1 #/v1/nodes?sel=n1'])
  assert.equal(hrefs(pod, pods, 'shop')[1], 'ReplicaSet/web #/apps/v1/replicasets?ns=shop&sel=shop/web')
  assert.deepEqual(referencesOf({}), [])
})

test('an object links to each of its owners', () => {
  const ownerReferences = [...owned.ownerReferences, { apiVersion: 'v1', kind: 'Pod', name: 'main' }]
  assert.deepEqual(hrefs({ metadata: { ...metadata, ownerReferences } }, pods).slice(1), ['ReplicaSet/web #/apps/v1/replicasets?sel=shop/web', 'Pod/main #/v1/pods?sel=shop/main'])
})

test('a controller and a node link to the objects that they own', () => {
  assert.equal(hrefs({ metadata }, sets).at(-1), 'pods of this ReplicaSet #/v1/pods?ns=shop&q=owner%3Dweb-1')
  assert.equal(hrefs({ metadata }, deployments).at(-1), 'replicasets of this Deployment #/apps/v1/replicasets?ns=shop&q=owner%3Dweb-1')
  assert.deepEqual(hrefs({ metadata: { name: 'n1' } }, nodes), ['pods of this Node #/v1/pods?q=node%3Dn1'])
})

test('an event links to its object', () => {
  for (const field of ['involvedObject', 'regarding']) {
    const event = { metadata, [field]: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: 'shop' } }
    assert.equal(hrefs(event, resource('', 'v1', 'events', 'Event')).at(-1), 'Pod/a #/v1/pods?sel=shop/a')
  }
})

test('a related object in an unknown collection has no link', () => {
  assert.equal(hrefs({ metadata: { name: 'a', ownerReferences: [{ apiVersion: 'x.com/v1', kind: 'ReplicaSet', name: 'b' }] } }, pods).at(-1), 'ReplicaSet/b ')
})

test('the overview shows links, cells, labels and conditions', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'NotYet', message: 'wait' }, { type: 'Initialized', status: 'True' }]
  const object = { metadata: { ...owned, labels: { 'example.com/app': 'web' } }, spec: { nodeName: 'n1' }, status: { phase: 'Running', conditions } }
  document.body.replaceChildren(...overview(object, columnsOf(pods, ''), { resource: pods, resources: [pods, nodes], namespace: '' }))
  assert.deepEqual(texts('dt'), ['Namespace', 'Owner', 'Node', 'Ready', 'Status', 'Restarts', 'IP', 'Created', 'Labels', 'Ready', 'Initialized'])
  assert.deepEqual(all('a').map((a) => a.getAttribute('href')), ['#/v1/nodes?sel=n1', '#/v1/pods?q=example.com/app%3Dweb'])
  assert.deepEqual(texts('dd').slice(-2), ['False · NotYetwait', 'True'])
  assert.equal(document.querySelector('[data-tone="ok"], .dotted').textContent, 'Running')
})

test('the overview marks a time as approximate if it is derived from an age', () => {
  const times = [{ id: 'a', title: 'A', time: () => 0 }, { id: 'b', title: 'B', time: () => 0, rounded: true }]
  document.body.replaceChildren(...overview({}, times, { resource: pods, resources: [], namespace: '' }))
  const [exact, rounded] = texts('time')
  assert.equal(rounded, `about ${exact}`)
})

test('the overview of an empty object shows no time', () => {
  document.body.replaceChildren(...overview({}, columnsOf(pods, ''), { resource: pods, resources: [], namespace: '' }))
  assert.equal(texts('dd').at(-1), '—')
})
