import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discover, titleOf } from '../discovery.js'
import { RequestError, get, messageOf } from '../request.js'

const link = { server: 'http://host', token: '' }
const list = (...items) => ({ kind: 'APIGroupDiscoveryList', items })
const group = (name, version, ...resources) => ({ metadata: name ? { name } : {}, versions: [{ version, resources }] })
const resource = (plural, more) => ({ resource: plural, verbs: ['list', 'watch'], scope: 'Namespaced', responseKind: { kind: 'Kind' }, ...more })
// Replaces fetch with responses by path. Returns the requests.
function answers(t, byPath) {
  const requests = []
  t.mock.method(globalThis, 'fetch', async (url, how) => {
    requests.push({ url, ...how })
    const answer = byPath[url.replace('http://host', '')]
    return typeof answer === 'function' ? answer(how.headers.Accept) : Response.json(answer)
  })
  return requests
}

test('discovery returns the collections from /api and /apis that can be listed and watched', async (t) => {
  const requests = answers(t, {
    '/api': list(group('', 'v1', resource('pods', { shortNames: ['po'] }), resource('nodes', { scope: 'Cluster' }), resource('bindings', { verbs: ['create'] }), resource('old', { verbs: ['list'] }), resource('odd', { verbs: ['watch'] }))),
    '/apis': list(group('apps', 'v1', resource('pods', { responseKind: { kind: '' } }), resource('plain', { verbs: undefined, responseKind: undefined })), {}, { metadata: { name: 'x' }, versions: [{ version: 'v1' }] }),
  })
  assert.deepEqual(await discover(link), [
    { group: '', version: 'v1', plural: 'pods', kind: 'Kind', namespaced: true, shortNames: ['po'] },
    { group: '', version: 'v1', plural: 'nodes', kind: 'Kind', namespaced: false, shortNames: [] },
    { group: 'apps', version: 'v1', plural: 'pods', kind: 'pods', namespaced: true, shortNames: [] },
  ])
  assert.deepEqual(requests.map(({ url }) => url), ['http://host/api', 'http://host/apis'])
  assert.deepEqual(requests.map(({ cache }) => cache), ['no-cache', 'no-cache'], 'the browser must revalidate cached responses')
  assert.equal(requests[0].headers.Accept, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
})

test('a server that rejects the newer format receives a request for the older format', async (t) => {
  const forms = []
  const old = (accept) => {
    forms.push(accept)
    return accept.includes('v=v2;') ? Response.json({}, { status: 406 }) : Response.json(list(group('', 'v1', resource('pods'))))
  }
  answers(t, { '/api': old, '/apis': list() })
  assert.deepEqual((await discover(link)).map(({ plural }) => plural), ['pods'])
  assert.deepEqual(forms.map((form) => /v=(\w+)/.exec(form)[1]), ['v2', 'v2beta1'])
})

test('a discovery response without a list is rejected', async (t) => {
  answers(t, { '/api': { kind: 'APIVersions' }, '/apis': list() })
  await assert.rejects(discover(link), { code: 'malformed', message: 'http://host/api does not list collections: it is not a Kubernetes API server, or it is older than 1.26' })
})

test('discover() rejects with any other error from the server', async (t) => {
  answers(t, { '/api': () => Response.json({ message: 'no' }, { status: 403 }), '/apis': list() })
  await assert.rejects(discover(link), { code: 'status', status: 403 })
})

test('a title is the plural of the kind if that plural is regular', () => {
  const title = (kind, plural) => titleOf({ kind, plural })
  assert.deepEqual([title('Pod', 'pods'), title('Endpoints', 'endpoints'), title('Foo', 'bars'), title('Bay', 'bays'), title('Policy', 'policys'), title('Policy', 'things')],
    ['Pods', 'Endpoints', 'Foo', 'Bays', 'Policys', 'Policy'])
})

test('a request contains the token, the format and the cache mode', async (t) => {
  const requests = answers(t, { '/x': {} }), { signal } = new AbortController()
  await get({ server: 'http://host', token: 'secret' }, '/x', { accept: 'a/b', cache: 'no-cache', signal })
  await get(link, '/x')
  assert.deepEqual(requests.map(({ headers, cache }) => [headers, cache]), [[{ Accept: 'a/b', Authorization: 'Bearer secret' }, 'no-cache'], [{}, 'no-store']])
  assert.deepEqual(requests.map((request) => request.signal), [signal, undefined])
})

test('the error of a failed request has a code, a message and a cause', async (t) => {
  const fails = async (answer, expected) => {
    answers(t, { '/x': answer })
    await assert.rejects(get(link, '/x'), (error) => {
      assert.ok(error instanceof RequestError)
      assert.deepEqual([error.code, error.message, error.status], expected)
      return true
    })
    t.mock.restoreAll()
  }
  const lost = new TypeError('away')
  await fails(() => { throw lost }, ['network', 'the server did not answer: away', undefined])
  await fails(() => ({ text: async () => { throw lost } }), ['network', 'the server did not answer: away', undefined])
  await fails(() => Response.json({ message: 'no' }, { status: 500 }), ['status', 'the server answered 500: no', 500])
  await fails(() => new Response('null', { status: 404 }), ['status', 'the server answered 404', 404])
  for (const text of ['1', 'null', '{']) await fails(() => new Response(text), ['malformed', 'the response is not a JSON object', undefined])
  answers(t, { '/x': () => { throw lost } })
  await assert.rejects(get(link, '/x'), { cause: lost })
})

test('messageOf returns a message for every thrown value', () => {
  assert.deepEqual([messageOf(new Error('a')), messageOf('b'), messageOf(undefined)], ['a', 'b', 'undefined'])
})
