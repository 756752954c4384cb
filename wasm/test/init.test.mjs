import assert from 'node:assert/strict'
import { test } from 'node:test'
import { init, wake } from '../index.js'

test('init retries after a failure and then returns the same promise', async () => {
  wake() // has no effect before the WASM module is loaded
  const failed = init({ mode: 'thread' })
  assert.equal(init({ mode: 'main' }), failed)
  await assert.rejects(failed, { code: 'invalid' })
  const loading = init({ mode: 'main' })
  await loading
  assert.equal(await loading, undefined)
  assert.equal(init({ mode: 'thread' }), loading)
  wake()
})
