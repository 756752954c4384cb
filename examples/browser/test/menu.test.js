import assert from 'node:assert/strict'
import { test } from 'node:test'
import { menu } from '../menu.js'

const resource = (name) => {
  const [plural, ...group] = name.split('.')
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true, shortNames: [] }
}
const groups = (...names) => menu(names.map(resource)).map(({ name, members }) => `${name}: ${members.map(({ resource, suffix }) => resource.plural + (suffix && ` ${suffix}`)).join(', ')}`)

test('the menu groups collections by their purpose', () => {
  assert.deepEqual(groups('configmaps', 'jobs.batch', 'nodes', 'pods', 'storageclasses.storage.k8s.io', 'ingresses.networking.k8s.io', 'services', 'deployments.apps',
    'endpointslices.discovery.k8s.io', 'persistentvolumeclaims', 'roles.rbac.authorization.k8s.io', 'poddisruptionbudgets.policy', 'widgets.example.com', 'limitranges'), [
    'Workloads: pods, deployments, jobs', 'Network: services, ingresses, endpointslices', 'Config: configmaps, limitranges, poddisruptionbudgets',
    'Storage: persistentvolumeclaims, storageclasses', 'Cluster: nodes, roles', 'Custom resources: widgets example.com'])
})

test('the menu shows the API groups of collections with the same plural', () => {
  assert.deepEqual(groups('events.events.k8s.io', 'events'), ['Cluster: events, events events.k8s.io'])
})

test('the menu omits empty groups', () => {
  assert.deepEqual(groups(), [])
  assert.deepEqual(groups('pods'), ['Workloads: pods'])
})
