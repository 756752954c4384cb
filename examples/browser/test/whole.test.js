import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Whole } from '../whole.js'

globalThis.reportError ??= (error) => { throw error } // Node has none; the rejection fails the test

const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true, shortNames: [] }
const link = { server: 'http://host', token: '' }
const pod = (resourceVersion) => ({ kind: 'Pod', metadata: { name: 'web', namespace: 'shop', resourceVersion, managedFields: [] }, spec: { node: 'n' } })
const list = (...items) => ({ kind: 'PodList', apiVersion: 'v1', items })
const bare = (resourceVersion) => {
  const object = pod(resourceVersion)
  delete object.metadata.managedFields
  return object
}
const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })

// Returns a Whole of the Pod "web", its requests, and a promise of the answer to a question. `respond` gets each URL.
function ask(t, respond, version, how) {
  const requests = []
  t.mock.method(globalThis, 'fetch', async (url) => {
    requests.push(url.replace('http://host/api/v1/namespaces/shop/pods', ''))
    return respond(url)
  })
  let whole
  const answered = new Promise((resolve) => {
    whole = new Whole(link, pods, { namespace: 'shop', name: 'web' }, () => resolve(whole.at(version, how)))
    assert.equal(whole.at(version, how), undefined)
  })
  return { answered, requests, whole: () => whole }
}

test('an object that is unchanged since the page loaded is requested whole', async (t) => {
  const { answered, requests } = ask(t, () => json(pod('5')), '5', { current: true })
  assert.deepEqual(await answered, { object: bare('5') })
  assert.deepEqual(requests, ['/web'])
})

test('a past version comes from the list at that time', async (t) => {
  const { answered, requests } = ask(t, () => json(list(pod('5'))), '5', { asOf: '7' })
  assert.deepEqual(await answered, { object: { apiVersion: 'v1', ...bare('5') } })
  assert.deepEqual(requests, ['?fieldSelector=metadata.name%3Dweb&resourceVersion=7&resourceVersionMatch=Exact'])
})

test('if the past version is lost, the current object is requested', async (t) => {
  const { answered, requests } = ask(t, (url) => (url.includes('?') ? json({ message: 'too old' }, 410) : json(pod('5'))), '5', { asOf: '7', current: true })
  assert.deepEqual(await answered, { object: bare('5') })
  assert.equal(requests.length, 2)
})

test('an object that has changed meanwhile becomes the newest', async (t) => {
  const { answered, whole } = ask(t, () => json(pod('6')), '5', { current: true })
  assert.deepEqual(await answered, { reason: 'the object has changed since then' })
  assert.deepEqual(whole().newest, bare('6'))
})

const failures = {
  'the server no longer keeps this version': [() => json({ message: 'too old resource version' }, 410), { asOf: '7' }],
  'the object did not exist then': [() => json(list()), { asOf: '7' }],
  'the object no longer exists': [() => json({ message: 'pods "web" not found' }, 404), { current: true }],
  'the server answered 403: pods "web" is forbidden': [() => json({ message: 'pods "web" is forbidden' }, 403), { current: true }],
  'the server answered 502': [() => new Response('<html>', { status: 502 }), { current: true }],
  'the server did not answer: Failed to fetch': [() => { throw new TypeError('Failed to fetch') }, { current: true }],
  'the answer is not a JSON object': [() => new Response('<html>'), { current: true }],
}
for (const [reason, [respond, how]] of Object.entries(failures)) {
  test(`a failure has its reason: ${reason}`, async (t) => {
    const answer = await ask(t, respond, '5', how).answered
    assert.equal(answer.reason, reason)
    assert.equal(answer.object, undefined)
  })
}

test('a question without an answer is asked once', async (t) => {
  const { answered, requests, whole } = ask(t, () => json({}, 404), '5', { current: true })
  await answered
  assert.equal(whole().at('5', { current: true }).reason, 'the object no longer exists')
  assert.equal(requests.length, 1)
})

test('close cancels the request, and nothing is reported', async (t) => {
  let cancelled
  const cancellation = new Promise((resolve) => { cancelled = resolve })
  t.mock.method(globalThis, 'fetch', (url, { signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => { reject(signal.reason); cancelled() })
  }))
  const whole = new Whole(link, pods, { namespace: 'shop', name: 'web' }, () => assert.fail('it reported an answer'))
  whole.at('5', { current: true })
  whole.close()
  await cancellation
  await new Promise(setImmediate)
})
