import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Versions } from '../versions.js'

globalThis.reportError ??= (error) => { throw error } // Node has no reportError; a reported error fails the test

const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true, shortNames: [] }
const link = { server: 'http://host', token: '' }
const pod = (resourceVersion) => ({ kind: 'Pod', metadata: { name: 'web', namespace: 'shop', resourceVersion, managedFields: [] }, spec: { node: 'n' } })
const list = (...items) => ({ kind: 'PodList', apiVersion: 'v1', items })
const withoutManagedFields = (resourceVersion) => {
  const object = pod(resourceVersion)
  delete object.metadata.managedFields
  return object
}
const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })

// Requests a version of the Pod "web". Returns its Versions object, the requests, and a promise of the result.
// `respond` returns the response for a URL.
function ask(t, respond, version, how) {
  const requests = []
  t.mock.method(globalThis, 'fetch', async (url) => {
    requests.push(url.replace('http://host/api/v1/namespaces/shop/pods', ''))
    return respond(url)
  })
  let versions
  const answered = new Promise((resolve) => {
    versions = new Versions(link, pods, { namespace: 'shop', name: 'web' }, () => resolve(versions.at(version, how)))
    assert.equal(versions.at(version, how), undefined)
  })
  return { answered, requests, versions: () => versions }
}

test('the full object is requested if it has not changed since the page loaded', async (t) => {
  const { answered, requests } = ask(t, () => json(pod('5')), '5', { current: true })
  assert.deepEqual(await answered, { object: withoutManagedFields('5') })
  assert.deepEqual(requests, ['/web'])
})

test('a past revision is read from a list at that resourceVersion', async (t) => {
  const { answered, requests } = ask(t, () => json(list(pod('5'))), '5', { asOf: '7' })
  assert.deepEqual(await answered, { object: { apiVersion: 'v1', ...withoutManagedFields('5') } })
  assert.deepEqual(requests, ['?fieldSelector=metadata.name%3Dweb&resourceVersion=7&resourceVersionMatch=Exact'])
})

test('the current object is requested if the past revision has expired', async (t) => {
  const { answered, requests } = ask(t, (url) => (url.includes('?') ? json({ message: 'too old' }, 410) : json(pod('5'))), '5', { asOf: '7', current: true })
  assert.deepEqual(await answered, { object: withoutManagedFields('5') })
  assert.equal(requests.length, 2)
})

test('a response with a newer revision replaces the newest object', async (t) => {
  const { answered, versions } = ask(t, () => json(pod('6')), '5', { current: true })
  assert.deepEqual(await answered, { reason: 'the object has changed since then' })
  assert.deepEqual(versions().newest, withoutManagedFields('6'))
})

const failures = {
  'the server no longer keeps this version': [() => json({ message: 'too old resource version' }, 410), { asOf: '7' }],
  'the object did not exist at that time': [() => json(list()), { asOf: '7' }],
  'the object no longer exists': [() => json({ message: 'pods "web" not found' }, 404), { current: true }],
  'the server answered 403: pods "web" is forbidden': [() => json({ message: 'pods "web" is forbidden' }, 403), { current: true }],
  'the server answered 502': [() => new Response('<html>', { status: 502 }), { current: true }],
  'the server did not answer: Failed to fetch': [() => { throw new TypeError('Failed to fetch') }, { current: true }],
  'the response is not a JSON object': [() => new Response('<html>'), { current: true }],
  'the response is malformed: list.items?.find is not a function': [() => json({ items: {} }), { asOf: '7' }],
}
for (const [reason, [respond, how]] of Object.entries(failures)) {
  test(`a failed request is reported with the reason: ${reason}`, async (t) => {
    const answer = await ask(t, respond, '5', how).answered
    assert.equal(answer.reason, reason)
    assert.equal(answer.object, undefined)
  })
}

test('a revision that could not be read is requested only once', async (t) => {
  const { answered, requests, versions } = ask(t, () => json({}, 404), '5', { current: true })
  await answered
  assert.equal(versions().at('5', { current: true }).reason, 'the object no longer exists')
  assert.equal(requests.length, 1)
})

test('close() cancels the request and suppresses its result', async (t) => {
  let cancelled
  const cancellation = new Promise((resolve) => { cancelled = resolve })
  t.mock.method(globalThis, 'fetch', (url, { signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => { reject(signal.reason); cancelled() })
  }))
  const versions = new Versions(link, pods, { namespace: 'shop', name: 'web' }, () => assert.fail('no result must be reported after close()'))
  versions.at('5', { current: true })
  versions.close()
  await cancellation
  await new Promise(setImmediate)
})

test('a revision whose time is unknown is not requested', async (t) => {
  const { answered, requests } = ask(t, () => assert.fail('a revision whose time is unknown must not be requested'), '5', {})
  assert.deepEqual([await answered, requests], [{ reason: 'the time of this version is unknown' }, []])
})

test('a list that contains another revision of the object causes an error', async (t) => {
  assert.deepEqual(await ask(t, () => json(list(pod('4'))), '5', { asOf: '7' }).answered, { reason: 'the object had a different version at that time' })
})

test('the object with the requested name is selected from a list', async (t) => {
  const other = { ...pod('5'), metadata: { ...pod('5').metadata, name: 'db' } }
  const { answered } = ask(t, () => json(list(other, { ...pod('5'), kind: undefined })), '5', { asOf: '7' })
  assert.equal((await answered).object.metadata.name, 'web')
  const kindless = pod('5')
  delete kindless.kind
  assert.equal((await ask(t, () => json(list(kindless)), '5', { asOf: '7' }).answered).object.kind, 'Pod')
})

test('the path contains the group and the namespace', async (t) => {
  const urls = []
  t.mock.method(globalThis, 'fetch', async (url) => { urls.push(url); return json({}) })
  const asked = (resource, item) => new Promise((resolve) => { new Versions(link, resource, item, resolve).at('5', { current: true }) })
  await asked({ ...pods, group: 'apps', plural: 'deployments' }, { namespace: 'shop', name: 'web' })
  await asked({ ...pods, plural: 'nodes' }, { namespace: '', name: 'a/b' })
  assert.deepEqual(urls, ['http://host/apis/apps/v1/namespaces/shop/deployments/web', 'http://host/api/v1/nodes/a%2Fb'])
})

// Returns a Versions object whose requests wait until the test calls their `resolve` in `pending`.
function stepwise(t) {
  const pending = [], told = []
  t.mock.method(globalThis, 'fetch', (url) => new Promise((resolve) => { pending.push({ asOf: new URL(url).searchParams.get('resourceVersion'), resolve: (v) => resolve(json(list(pod(v)))) }) }))
  const versions = new Versions(link, pods, { namespace: 'shop', name: 'web' }, () => told.push(versions.arrivals))
  return { versions, pending, told }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('revisions are requested sequentially and only once', async (t) => {
  const { versions, pending, told } = stepwise(t)
  for (const version of ['5', '6', '5']) assert.equal(versions.at(version, { asOf: version }), undefined)
  assert.equal(pending.length, 1)
  pending[0].resolve('5')
  await turn()
  assert.deepEqual([pending.map(({ asOf }) => asOf), told], [['5', '6'], [1]])
  pending[1].resolve('6')
  await turn()
  assert.equal(versions.at('6', {}).object.metadata.resourceVersion, '6')
  assert.equal(versions.at('7', { asOf: '7' }), undefined)
  assert.deepEqual([pending.length, told], [3, [1, 2]], 'a later revision must be requested immediately')
})

test('pending and stored revisions are limited, and the oldest are dropped first', async (t) => {
  const { versions, pending } = stepwise(t)
  const ask = (from, to) => { for (let v = from; v <= to; v++) versions.at(String(v), { asOf: String(v) }) }
  const drain = async () => {
    for (let done = pending.length - 1; done < pending.length; done++) {
      pending[done].resolve(pending[done].asOf)
      await turn()
    }
  }
  ask(1, 40)
  await drain()
  assert.deepEqual([pending.length, versions.arrivals, pending[1].asOf], [31, 31, '11'], 'only the first and the last 30 of the 40 revisions must be requested')
  ask(41, 70)
  await drain()
  assert.equal(versions.arrivals, 61)
  assert.ok(versions.at('11', {}), 'the second of the 61 received revisions must be stored')
  assert.equal(versions.at('1', {}), undefined, 'the first of the 61 received revisions must be dropped')
})

test('a result that arrives after close is dropped', async (t) => {
  const { versions, pending, told } = stepwise(t)
  versions.at('5', { asOf: '5' })
  versions.close()
  pending[0].resolve('5')
  await turn()
  assert.deepEqual([versions.at('5', {}), told, versions.arrivals], [undefined, [], 0])
})

test('the newest object remains after a failed request', async (t) => {
  const answers = [json(pod('5')), json({}, 404)]
  t.mock.method(globalThis, 'fetch', async () => answers.shift())
  let told
  const versions = new Versions(link, pods, { namespace: 'shop', name: 'web' }, () => told())
  for (const version of ['5', '6']) await new Promise((resolve) => { told = resolve; versions.at(version, { current: true }) })
  assert.deepEqual(versions.newest, withoutManagedFields('5'))
})

test('a past revision becomes the newest object only if the current object was requested', async (t) => {
  const { versions, pending } = stepwise(t)
  versions.at('5', { asOf: '5' })
  pending[0].resolve('5')
  await turn()
  assert.equal(versions.newest, undefined)
  versions.at('6', { asOf: '6', current: true })
  pending[1].resolve('6')
  await turn()
  assert.equal(versions.newest.metadata.resourceVersion, '6')
})
