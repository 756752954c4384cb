import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResource } from '../resources.js'

test('resources have a built-in or explicit group and version', () => {
  const parts = (resource) => {
    const { group, version, plural } = parseResource(resource)
    return [group, version, plural].join(' ')
  }
  assert.equal(parts('pods'), ' v1 pods')
  assert.equal(parts('deployments'), 'apps v1 deployments')
  assert.equal(parts('v1/pods'), ' v1 pods')
  assert.equal(parts('example.com/v1beta1/widgets'), 'example.com v1beta1 widgets')
})

const BUILT_IN = `
  v1: configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services
  apps/v1: controllerrevisions daemonsets deployments replicasets statefulsets
  autoscaling/v2: horizontalpodautoscalers
  batch/v1: cronjobs jobs
  coordination.k8s.io/v1: leases
  discovery.k8s.io/v1: endpointslices
  networking.k8s.io/v1: ingresses ingressclasses networkpolicies
  policy/v1: poddisruptionbudgets
  rbac.authorization.k8s.io/v1: clusterrolebindings clusterroles rolebindings roles
  scheduling.k8s.io/v1: priorityclasses
  storage.k8s.io/v1: csidrivers csinodes storageclasses volumeattachments
  admissionregistration.k8s.io/v1: mutatingwebhookconfigurations validatingwebhookconfigurations
  apiextensions.k8s.io/v1: customresourcedefinitions`
for (const line of BUILT_IN.trim().split('\n')) {
  const [of, plurals] = line.trim().split(': ')
  test(`the resources of ${of} need no explicit group or version`, () => {
    for (const plural of plurals.split(' ')) {
      const { group, version } = parseResource(plural)
      assert.equal([group, version].filter(Boolean).join('/'), of, plural)
    }
  })
}

for (const [resource, message] of [
  ['widgets', /unknown resource widgets: add its group and version/],
  ['toString', /unknown resource toString/],
  ['pod', /unknown resource pod: use "pods", or add its group and version/],
  ['Service', /unknown resource Service: use "services", or add/],
  ['networkpolicy', /unknown resource networkpolicy: use "networkpolicies", or add/],
  ['x', /unknown resource x: add/],
  ['a/b/c/d', /resource must look like "pods" or "group\/version\/plural", not "a\/b\/c\/d"/],
  ['a//c', /resource must look like/],
]) {
  test(`an unknown resource is an error: ${resource}`, () => {
    assert.throws(() => parseResource(resource), { name: 'ListWatchError', code: 'invalid', message })
  })
}
