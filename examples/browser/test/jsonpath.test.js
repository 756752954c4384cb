import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePath } from '../columns/jsonpath.js'

const object = {
  metadata: { name: 'web', annotations: { 'example.com/a.b': 'x' } },
  spec: { size: 3, hosts: ['one', 'two'], rules: [{}, { host: 'h', port: 80 }], none: null },
  status: { conditions: [{ type: 'Synced', status: 'False' }, { type: 'Ready', status: 'True', detail: { code: 'C' } }] },
}

const VALUES = {
  '.spec.size': 3, '.spec.hosts[1]': 'two', '.spec.hosts[*]': 'one', '.spec.rules[*].host': 'h', '.spec.rules[5].host': undefined,
  ".metadata['name']": 'web', '.metadata.annotations.example\\.com/a\\.b': 'x', ".metadata.annotations['example.com/a.b']": 'x',
  '.status.conditions[?(@.type=="Ready")].status': 'True', ".status.conditions[?(@.type == 'Synced')].status": 'False',
  '.status.conditions[?(@.detail.code=="C")].type': 'Ready', '.status.conditions[?(@.type=="Lost")].status': undefined,
  '.spec.none.deep': undefined, '.spec.size[0]': undefined, '.spec.size.deep': undefined, '.spec.hosts.length': undefined,
}
for (const [path, value] of Object.entries(VALUES)) {
  test(`the path ${path} has the value ${value}`, () => assert.equal(parsePath(path)?.first(object), value))
}

test('unsupported paths are rejected', () => {
  for (const path of ['spec.size', '..size', '.spec.hosts[0:1]', '.spec.rules[?(@.port>1)].host', '.spec[', '{.spec.size}']) assert.equal(parsePath(path), undefined, path)
})

test('parsePath() returns the field to request for a path', () => {
  for (const [path, field] of [['.spec.size', 'spec.size'], ['.spec.rules[*].host', 'spec.rules'], ['.status.conditions[?(@.type=="Ready")].status', 'status.conditions'],
    ['.metadata.annotations.example\\.com/a', 'metadata.annotations'], [".metadata['name']", 'metadata']]) assert.equal(parsePath(path)?.field, field)
})
