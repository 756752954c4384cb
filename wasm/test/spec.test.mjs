import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListWatchError, listWatch } from '../index.js'
import { specOf } from '../spec.js'

const good = { server: 'https://host:6443', resource: 'pods' }

// Each row contains options and the expected error message.
const bad = [
  [undefined, /options must be an object such as/],
  [null, /options must be an object such as/],
  ['pods', /options must be an object such as/],
  [{ ...good, namspace: 'x' }, /unknown option namspace/],
  [{ ...good, toString: 'x' }, /unknown option toString/],
  [{ resource: 'pods' }, /URL is missing: it must look like https:/],
  [{ ...good, server: 7 }, /server must be a string or a URL/],
  [{ ...good, server: 'not a url' }, /does not parse/],
  [{ ...good, server: 'localhost:8080' }, /begin with https:\/\/ or http:/],
  [{ ...good, server: 'https://me:secret@host' }, /must not have a user: use the option token/],
  [{ ...good, server: 'https://host/?a=b' }, /must not have a query or a fragment/],
  [{ server: 'https://host' }, /use either resource or path/],
  [{ ...good, path: '/api/v1/pods' }, /use either resource or path/],
  [{ server: 'https://host', path: 'api/v1/pods' }, /path must be a path such as "\/apis/],
  [{ server: 'https://host', path: '/api/v1/pods', namespace: 'shop' }, /put the namespace into path/],
  [{ ...good, resource: 7 }, /resource must be a string/],
  [{ ...good, indexes: { node: '{.spec.nodeName}' } }, /write "spec\.nodeName" instead of "{\.spec\.nodeName}"/],
  [{ ...good, project: ['metadata', '$.spec.nodeName'] }, /write "spec\.nodeName" instead of "\$\.spec\.nodeName"/],
  [{ ...good, trace: true }, /trace must be a function/],
  [{ ...good, keepAlive: 'x' }, /keepAlive must be a number of milliseconds/],
  [{ ...good, namespace: 1 }, /namespace must be a string/],
  [{ ...good, name: {} }, /name must be a string/],
  [{ ...good, name: '' }, /name must be a string that is not empty/],
  [{ ...good, labelSelector: { app: 'web' } }, /labelSelector must be a string/],
  [{ ...good, fieldSelector: [] }, /fieldSelector must be a string/],
  [{ ...good, transport: 'sse' }, /transport must be one of auto, http, ws/],
  [{ ...good, token: 7 }, /token must be a string without spaces or line breaks, or a function/],
  [{ ...good, token: 'secret\nsecret' }, /token must be a string without/],
  [{ ...good, headers: { 'a b': 'x' } }, /headers must be an object with valid header names and values/],
  [{ ...good, headers: { a: 'x\n' } }, /headers must be an object with valid header names and values/],
  [{ ...good, token: Promise.resolve('x') }, /token must be a string without spaces or line breaks, or a function/],
  [{ ...good, headers: new Headers({ a: 'b' }) }, /headers must be an object with valid header names/],
  [{ ...good, headers: new Map([['a', 'b']]) }, /headers must be an object with valid header names/],
  [{ ...good, headers: { authorization: 'Basic x' }, token: 'y' }, /use either the option token or the header Authorization/],
  [{ ...good, headers: { AUTHORIZATION: 'Basic x' }, token: 'y' }, /use either the option token or the header Authorization/],
  [{ ...good, headers: ['a'] }, /headers must be an object with valid header names/],
  [{ ...good, headers: { a: 1 } }, /headers must be an object with valid header names/],
  [{ ...good, credentials: 'all' }, /credentials must be one of omit, same-origin, include/],
  [{ ...good, project: 'spec' }, /project must be an array of strings/],
  [{ ...good, project: [1] }, /project must be an array of strings/],
  [{ ...good, indexes: { node: (pod) => pod.spec.nodeName } }, /indexes must be an object of at most 200 strings/],
  [{ ...good, indexes: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`i${i}`, 'a'])) }, /at most 200/],
  [{ ...good, maxObjects: 0 }, /maxObjects must be a positive integer/],
  [{ ...good, persist: 1 }, /persist must be a boolean or a user name/],
  [{ ...good, streamingLists: 1 }, /streamingLists must be a boolean/],
  [{ ...good, signal: {} }, /signal must be an AbortSignal/],
]

for (const [options, message] of bad) {
  test(`listWatch throws: ${message}`, () => {
    assert.throws(() => listWatch(options), (error) => {
      assert.ok(error instanceof ListWatchError)
      assert.equal(error.code, 'invalid')
      assert.equal(error.retryable, false)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })
}

test('options that are undefined count as missing', () => {
  const all = Object.fromEntries(['path', 'namespace', 'transport', 'token', 'headers', 'project', 'indexes', 'persist', 'signal']
    .map((name) => [name, undefined]))
  assert.deepEqual(specOf({ ...all, ...good }), specOf(good))
})

// Calls `f` in a simulated page at `url`. The argument of `f` is a function that resolves a server URL.
function atPage(url, f) {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'location')
  Object.defineProperty(globalThis, 'location', { value: new URL(url), configurable: true })
  try {
    f((server) => specOf({ resource: 'pods', server }).spec.endpoint.server)
  } finally {
    if (before) Object.defineProperty(globalThis, 'location', before)
    else delete globalThis.location
  }
}

for (const path of ['/', '/app/index.html', '/app/index.html?x=1', '/app/index.html?x=1#/route']) {
  test(`for a page at ${path}, the default server is the page's origin, and relative URLs are resolved against it`, () => {
    atPage(`http://page.example:8080${path}`, (server) => {
      for (const own of [undefined, '', '/']) assert.equal(server(own), 'http://page.example:8080')
      for (const relative of ['/k8s', 'k8s', '/k8s/']) assert.equal(server(relative), 'http://page.example:8080/k8s')
      assert.equal(server('https://host:6443/base'), 'https://host:6443/base')
    })
  })
}

test('a page without an origin needs an absolute server URL', () => {
  for (const url of ['file:///home/index.html', 'about:srcdoc']) {
    atPage(url, (server) => {
      assert.equal(server('https://host:6443'), 'https://host:6443')
      assert.throws(() => server(), /URL is missing/)
      assert.throws(() => server('/k8s'), /does not parse/)
    })
  }
})

test('a spec can be cloned because it contains no token function', () => {
  const token = () => 'x'
  const made = specOf({ ...good, token, signal: new AbortController().signal, server: new URL('https://host/base/') })
  assert.equal(typeof made.token, 'function')
  assert.equal(made.spec.endpoint.server, 'https://host/base')
  assert.deepEqual(structuredClone(made.spec), made.spec)
  assert.equal(specOf({ ...good, token: 'fixed' }).spec.token, 'fixed')
})

test('errors from a token function do not contain the token', async () => {
  const of = (token) => specOf({ ...good, token }).token()
  assert.equal(await of(async () => 'x'), 'x')
  assert.equal(await of(() => undefined), '')
  for (const wrong of [5, {}, 'se cret', 'secret\n', 'gehe€m']) {
    await assert.rejects(of(() => wrong), { message: 'the token function must return a string without spaces or line breaks' })
  }
  await assert.rejects(of(() => { throw new Error('signed out') }), { message: 'the token function failed: signed out' })
  await assert.rejects(of(() => { throw 'signed out' }), { message: 'the token function failed: signed out' })
  await assert.rejects(of(() => { throw undefined }), { message: 'the token function failed: undefined' })
})

test('omitted options get default values', () => {
  assert.deepEqual(specOf({ server: 'https://host', resource: 'pods' }), {
    spec: {
      endpoint: { server: 'https://host', transport: 'auto', headers: {}, credentials: '' },
      resource: 'pods', namespace: '', name: '', labelSelector: '', fieldSelector: '', project: [], indexes: {},
      persist: false, maxObjects: 0, streamingLists: true, asks: false, token: '',
    },
    token: undefined,
  })
})

const RETRYABLE = { expired: true, 'too-many-requests': true, status: true, malformed: true, 'too-large': true, closed: true, silent: true, turns: true, network: true, crashed: true,
  unauthorized: false, forbidden: false, 'not-found': false, invalid: false, load: false, storage: false, aborted: false, unsupported: false }
for (const [code, retryable] of Object.entries(RETRYABLE)) {
  test(`a retry ${retryable ? 'can' : 'cannot'} help after the error "${code}"`, () => {
    assert.equal(new ListWatchError(code, 'x').retryable, retryable)
  })
}

test('the order of headers and indexes does not matter', () => {
  const json = (options) => JSON.stringify(specOf({ ...good, ...options }).spec)
  assert.equal(json({ headers: { a: '1', b: '2' } }), json({ headers: { b: '2', a: '1' } }))
  assert.equal(json({ indexes: { a: 'spec.x', b: 'spec.y' } }), json({ indexes: { b: 'spec.y', a: 'spec.x' } }))
  assert.notEqual(json({ indexes: { a: 'spec.x', b: 'spec.y' } }), json({ indexes: { a: 'spec.y', b: 'spec.x' } }))
})
