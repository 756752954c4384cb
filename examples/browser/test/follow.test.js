import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import './support/package.js'
import { ListWatchError, calls, live, opened } from './support/listwatch.js'

const { followNamespaces } = await import('../follow.js')

const link = { server: 'http://host', token: '' }

beforeEach(() => { opened.length = 0 })

function namespaces(to = link) {
  const heard = []
  const end = followNamespaces(to, (names, cause) => heard.push([names, cause]))
  return { heard, end, collection: opened[0] }
}

test('the names of the namespaces are watched', () => {
  const { heard, end, collection } = namespaces({ server: 'http://host', token: 'secret' })
  assert.deepEqual(collection.options, { server: 'http://host', resource: 'v1/namespaces', project: ['metadata.name'], token: 'secret' })
  collection.items = [{ name: 'a' }, { name: 'b' }]
  assert.equal(collection.report(live()), 1)
  assert.deepEqual(heard, [[['a', 'b'], undefined]])
  end()
  assert.equal(collection.closed, true)
  assert.equal(collection.report(live()), 0)
})

test('the token option is omitted if there is no token', () => {
  assert.equal('token' in namespaces().collection.options, false)
})

test('a failure to list namespaces is reported as null with the cause', () => {
  const { heard, collection } = namespaces(), cause = { code: 'forbidden', message: 'no' }
  collection.report({ phase: 'stopped', cause })
  assert.deepEqual(heard, [[null, cause]])
})

test('known namespaces remain available after their watch stops', () => {
  const { heard, collection } = namespaces(), cause = { code: 'unauthorized', message: 'no', status: 401 }
  collection.items = [{ name: 'a' }]
  collection.report({ phase: 'stopped', cause })
  assert.deepEqual(heard, [[['a'], cause]])
})

test('an interruption is reported only if its cause is an error response', () => {
  const { heard, collection } = namespaces(), refused = { code: 'status', message: 'no', status: 500 }
  collection.report({ phase: 'stale', cause: { code: 'network', message: 'away' } })
  collection.report({ phase: 'stale', cause: refused })
  assert.deepEqual(heard, [[[], undefined], [[], refused]])
})

test('invalid namespace options are reported once', () => {
  calls.refuse = new ListWatchError('invalid', 'bad server')
  const { heard, end } = namespaces()
  assert.deepEqual(heard.map(([names, { message }]) => [names, message]), [[null, 'bad server']])
  end()
  calls.refuse = new TypeError('a defect')
  assert.throws(() => namespaces(), TypeError)
})
