import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idle } from './cpu.mjs'

for (const [name, times, steps] of [
  ['three quiet steps', [0, 0, 0, 0, 9], 3],
  ['steps of one tick count as quiet', [0, 1, 2, 3, 9], 3],
  ['a busy step restarts the count', [0, 0, 0, 2, 2, 2, 2, 9], 6],
  ['unavailable CPU times', [NaN], 30],
]) {
  test(`idle() waits: ${name}`, async () => {
    let at = 0
    await idle(1, () => times[at] ?? NaN, async () => { at++ })
    assert.equal(at, steps)
  })
}

test('idle() rejects if the browser stays busy', async () => {
  let used = 0
  await assert.rejects(idle(1, () => used += 2, async () => {}), /the browser was still busy after 30 s/)
})
