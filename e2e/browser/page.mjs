// Calls the test functions of page/page.js in a page.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { until } from './stage.mjs'

export const follow = (page, name, options) => page.evaluate((name, options) => globalThis.stage.open(name, options), name, options)
export const show = (page, name) => page.evaluate((name) => globalThis.stage.show(name), name)

/**
 * Waits until a collection is live and both its objects and its accumulated changes equal the server's objects. Returns
 * `shown`, the collection in the page, and `has`, the collection on the server.
 */
export async function equal(cluster, page, name = 'all') {
  let shown, has
  try {
    await until('the page shows the server\'s objects', async () => {
      [shown, has] = await Promise.all([show(page, name), cluster.look()])
      return shown.state.phase === 'live' && isDeepStrictEqual(shown.objects, has.objects) &&
        isDeepStrictEqual(shown.replayed, has.objects)
    })
  } catch (error) {
    const differ = Object.keys({ ...shown.objects, ...has.objects }).filter((key) => !isDeepStrictEqual(shown.objects[key], has.objects[key]))
    delete has.objects
    throw new Error(`${error.message}: ${differ.length} objects differ; ${JSON.stringify(shown.state)}; ${JSON.stringify(has)}`)
  }
  return { shown, has }
}

/** Waits until a loaded collection is interrupted, and checks its state. */
export async function isAway(page, name = 'all') {
  const { state } = await until('the interruption', async () => {
    const shown = await show(page, name)
    return shown.state.phase === 'stale' && shown.state.cause && shown
  })
  assert.equal(state.cause.name, 'ListWatchError')
  assert.equal(state.cause.retryable, true)
  assert.ok(state.retryAt > 0)
}
