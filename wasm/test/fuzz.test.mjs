// Compares the WASM module with JSON.parse, TextDecoder and URL, using random records, commands, requests and saved
// data. random.mjs explains how to run these tests longer.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Engine } from '../engine.js'
import { ListWatchError } from '../error.js'
import { Mirror, valuesOf } from '../mirror.js'
import { DELETED, RESET, STOPPED, SYNCED, decode, encode, encodeFields } from '../records.js'
import { parseResource } from '../resources.js'
import { specOf } from '../spec.js'
import { Random, concat, rounds, text } from './random.mjs'
import { until } from './support.mjs'

// Merges adjacent U+FFFD characters, because decoders replace invalid UTF-8 with different numbers of them.
const once = (found) => found.toWellFormed().replace(/\uFFFD+/g, '\uFFFD')

const fetched = globalThis.fetch
let engine, answer
before(async () => {
  engine = await Engine.load(readFileSync(new URL('../listwatch.wasm', import.meta.url)))
  globalThis.fetch = async (url, options) => answer(new URL(url), options, url)
})
after(() => { globalThis.fetch = fetched })

const refusal = '{"kind":"Status","code":403,"reason":"Forbidden"}'
const refuse = () => new Response(refusal, { status: 403 })

/**
 * Starts a collection in the module. Returns its records so far in `told`, a function `saw` that waits for a record,
 * and a function `stop`.
 */
function follow(spec, more = {}) {
  const told = []
  let failure
  const id = engine.start(spec, {
    ...more, records: (bytes) => decode(bytes, (kind, fields) => told.push([kind, ...fields])), failed: (error) => { failure = error },
  })
  const saw = (holds) => until(() => {
    if (failure) throw failure
    return told.some(holds)
  })
  return { told, saw, stop: () => engine.stop(id) }
}

test('records with random fields are decoded at random offsets', () => rounds(2000, (random) => {
  const some = random.some(5, () => [1 + random.below(13), ...random.some(8, () => random.string())])
  const memory = concat(new Uint8Array(random.below(20)).fill(255), encode(some), new Uint8Array(random.below(20)).fill(255))
  const begin = memory.findIndex((byte) => byte !== 255), found = []
  const bytes = encode(some)
  if (some.length) decode(memory.subarray(begin, begin + bytes.length), (kind, fields) => found.push([kind, ...fields]))
  assert.deepEqual(found, some.map(([kind, ...fields]) => [kind, ...fields.map((field) => field.toWellFormed())]))
}))

// Returns a random object: its bytes, its key, its UID, and the result of JSON.parse.
function object(random, name, version) {
  const namespace = random.of('', 'shop', 'ünïcode'), uid = random.quoted()
  const metadata = concat(`{"n\\u0061me":${JSON.stringify(name)},"namespace":${JSON.stringify(namespace)},"uid":`, uid,
    `,"resourceVersion":"${version}"`, ...random.members(1, true), '}')
  const bytes = concat('{', ...random.members(0).map((member) => concat(member, ',')).map((member) => (member[0] === 0x2C ? member.subarray(1) : member)),
    '"metadata":', metadata, '}')
  const parsed = JSON.parse(text(bytes))
  delete parsed.metadata.managedFields
  return { bytes, key: namespace ? `${namespace}/${name}` : name, uid: once(JSON.parse(text(uid))), parsed }
}

// Asserts that an index value equals the value at `path`: a string itself, or the JSON of any other value.
function requireValue(found, parsed, path) {
  const want = path.reduce((value, name) => (value && typeof value === 'object' && !Array.isArray(value) && Object.hasOwn(value, name) ? value[name] : undefined), parsed)
  if (want === undefined || want === null) assert.equal(found, '')
  else if (typeof want === 'string') assert.equal(once(found), once(want))
  else assert.deepEqual(JSON.parse(found), want)
}

test('objects in records match the result of JSON.parse', () => rounds(60, async (random, seed) => {
  const expected = new Map()
  let version = 0
  const change = (type) => {
    const made = object(random, random.of('a', 'é', '𝄞b', `o${random.below(9)}`), ++version)
    if (type === 'DELETED') expected.delete(made.key)
    else expected.set(made.key, made)
    return made
  }
  const items = random.some(20, (_, i) => concat(i ? ',' : '', change('ADDED').bytes))
  const list = concat(`{"metadata":{"resourceVersion":"${++version}"},"items":[`, ...items, '],"kind":"PodList","apiVersion":"v1"}')
  const events = random.some(30, () => {
    const type = random.of('ADDED', 'MODIFIED', 'DELETED')
    return concat(`{"type":"${type}","object":`, change(type).bytes, random.of('}\n', '}'))
  })
  const watch = concat(...events, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${++version}"}}}`)
  answer = (url) => (url.searchParams.has('watch') ? new Response(cut(random, watch)) : new Response(list))
  const { spec } = specOf({ server: `http://127.0.0.1:${1 + seed % 60000}`, resource: 'pods' })
  const paths = { a: ['a'], ab: ['a', 'b'], uid: ['metadata', 'uid'] }
  const indexes = Object.values(paths).map((path) => path.join('.'))
  const followed = follow({ ...spec, ...parseResource('pods'), indexes, needs: indexes, streamingLists: false, restored: false })
  await followed.saw(([, ...fields]) => fields.includes(String(version)))
  followed.stop()
  const mirror = new Mirror(Object.keys(paths))
  for (const [kind, ...fields] of followed.told) mirror.apply(kind, fields)
  assert.deepEqual([...mirror.items.keys()].sort(), [...expected.keys()].sort())
  for (const [key, { uid, parsed }] of expected) {
    const item = mirror.items.get(key), values = valuesOf(item)
    assert.equal(once(item.uid), uid)
    Object.values(paths).forEach((path, i) => requireValue(values[i], parsed, path))
    assert.deepEqual(item.object, parsed)
  }
}))

// Returns a stream of `bytes` in chunks of random sizes.
function cut(random, bytes) {
  return new ReadableStream({
    pull(controller) {
      const n = 1 + random.below(500)
      if (bytes.length) controller.enqueue(new Uint8Array(bytes.subarray(0, n)))
      bytes = bytes.subarray(n)
    },
  })
}

test('random options are rejected or produce the expected request', () => rounds(300, async (random, seed) => {
  const options = { server: `http://127.0.0.1:${1 + seed % 60000}/${random.of('', 'base', 'a%20b')}`, resource: random.of('pods', 'apps/v1/deployments', random.string()) }
  const maybe = (name, make) => { if (random.below(2)) options[name] = make() }
  for (const name of ['namespace', 'name', 'labelSelector', 'fieldSelector']) maybe(name, () => random.string())
  maybe('transport', () => random.of('auto', 'http', 'ws', random.string()))
  maybe('project', () => random.some(2, () => random.of('a.b', 'metadata', random.string())))
  maybe('indexes', () => Object.fromEntries(random.some(2, () => [random.string(), random.of('a.b[0]', random.string())])))
  maybe('maxObjects', () => random.of(1, 1e15, 0, 'x', 1.5))
  let spec
  try {
    spec = specOf(options).spec
  } catch (error) {
    assert.ok(error instanceof ListWatchError && error.code === 'invalid', error)
    return
  }
  assert.deepEqual(structuredClone(spec), spec)
  let named
  try {
    named = parseResource(spec.resource)
  } catch (error) {
    assert.ok(error instanceof ListWatchError && error.code === 'invalid', error)
    return
  }
  const asked = []
  answer = (url, _, as) => {
    asked.push(url)
    assert.ok(as.startsWith(spec.endpoint.server))
    return refuse()
  }
  const indexes = Object.values(spec.indexes)
  const followed = follow({ ...spec, ...named, indexes, needs: [], streamingLists: false, restored: false })
  await followed.saw(([kind]) => kind === STOPPED)
  followed.stop()
  const [, code, message] = followed.told.find(([kind]) => kind === STOPPED)
  if (!asked.length) return assert.ok(code === 'invalid' && message)
  assert.equal(code, 'forbidden')
  const { pathname, searchParams, hash } = asked[0]
  assert.equal(hash, '')
  assert.equal(searchParams.get('labelSelector') ?? '', spec.labelSelector.toWellFormed())
  const selectors = [spec.name && `metadata.name=${spec.name.replace(/[\\,=]/g, '\\$&')}`, spec.fieldSelector].filter(Boolean).join(',')
  assert.equal(searchParams.get('fieldSelector') ?? '', selectors.toWellFormed())
  const segments = pathname.split('/').slice(new URL(spec.endpoint.server).pathname.split('/').filter(Boolean).length + 1).map(decodeURIComponent)
  const group = named.group ? ['apis', named.group, named.version] : ['api', named.version]
  const wanted = [...group, ...(spec.namespace ? ['namespaces', spec.namespace] : []), named.plural]
  assert.deepEqual(segments, wanted.map((segment) => segment.toWellFormed()))
}))

test('a saved state is resumed or rejected', () => rounds(150, async (random, seed) => {
  const rows = [...new Map(random.some(6, (_, i) => [random.of('', 'shop', 'é'), `o${i}`]).map((row) => [row.join('/'), row])).values()]
  const version = String(1 + random.below(1000))
  const uids = new Map(rows.map(([, name], i) => [name, i ? random.string() : 'first'])) // the check of a restored state compares the UID of the first object
  let kept = encodeFields([version, ...rows.flatMap(([namespace, name]) => [namespace, name, uids.get(name), version, '7-sum'])])
  const damaged = random.below(3) === 0
  if (damaged) {
    kept = kept.slice(0, random.below(kept.length + 1))
    if (kept.length) kept[random.below(kept.length)] = random.below(256)
  }
  const gone = rows.map(([namespace, name]) => `{"type":"DELETED","object":{"metadata":{"namespace":"${namespace}","name":"${name}","resourceVersion":"2000"}}}`)
  const [[namespace, name] = []] = rows
  const check = { metadata: { resourceVersion: version }, items: name ? [{ metadata: { namespace, name, uid: 'first', resourceVersion: version } }] : [], kind: 'PodList', apiVersion: 'v1' }
  let first
  answer = (url) => {
    if (!damaged && url.searchParams.get('limit') === '1') return Response.json(check)
    first ??= url
    if (damaged || first !== url) return refuse()
    return new Response(cut(random, concat(...gone, '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3000"}}}')))
  }
  const { spec } = specOf({ server: `http://127.0.0.1:${1 + seed % 60000}`, resource: 'pods' })
  const followed = follow({ ...spec, ...parseResource('pods'), indexes: [], needs: [], streamingLists: false, restored: true }, { saved: kept })
  if (damaged) {
    await until(() => first || followed.told.some(([kind]) => kind === STOPPED))
    return followed.stop()
  }
  await followed.saw((record) => record.includes('3000'))
  followed.stop()
  assert.equal(first.searchParams.get('resourceVersion'), version)
  assert.deepEqual(followed.told.filter(([kind]) => kind === DELETED).map(([, key]) => key), rows.map(([namespace, name]) => (namespace ? `${namespace}/${name}` : name)))
  assert.deepEqual(followed.told.slice(0, 2).map(([kind]) => kind), [RESET, SYNCED])
}))
