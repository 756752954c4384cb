// Tests how pages report error responses.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { equal, follow, show } from './page.mjs'
import { until } from './stage.mjs'

const REFUSALS = {
  'wrong token': { token: 'wrong', status: 401, code: 'unauthorized', reason: 'Unauthorized' },
  'token without permissions': { token: 'poor', status: 403, code: 'forbidden', reason: 'Forbidden' },
}

export function refusals(scene, modes) {
  for (const mode of modes) {
    it(`${mode}: reports error responses`, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster({ tokens: { good: true, poor: false } })
      const page = await scene.open(profile, { mode }), warnings = []
      page.on('console', (message) => /the stream was interrupted/.test(message.text()) && warnings.push(message.text()))
      for (const transport of ['http', 'ws', 'auto']) {
        for (const [name, { token, ...cause }] of Object.entries(REFUSALS)) {
          await follow(page, name + transport, { server: cluster.url, transport, token })
          const { outcome, state } = await until(`${name} over ${transport} is shown`, async () => {
            const shown = await show(page, name + transport)
            return shown.outcome && shown
          })
          for (const error of [outcome, state.cause]) {
            const { code, status, reason } = error
            assert.deepEqual({ code, status, reason }, { code: cause.code, status: cause.status, reason: cause.reason }, error.message)
            assert.equal(error.retryable, false)
          }
          assert.equal(state.phase, 'stopped')
        }
      }
      assert.equal((await cluster.look()).watches, 0)
      await until('a warning for each collection', () => warnings.length === 6) // two tokens over three transports
      for (const remedy of [/the server answered 401 .*next: stop, .*remedy: check the credential/, /the server answered 403 .*remedy: grant the user the list and watch verbs/]) {
        assert.equal(warnings.filter((text) => remedy.test(text)).length, 3, `${warnings}`)
      }
    }))
  }

  it('shared: a new collection and a retried one succeed when the server accepts a previously rejected token', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ tokens: { good: true } })
    await cluster.revoke({ token: 'good' })
    const [first, second] = [await scene.open(profile, { mode: 'shared' }), await scene.open(profile, { mode: 'shared' })]
    for (const page of [first, second]) {
      await follow(page, 'all', { server: cluster.url, token: 'good' })
      await until('the rejection', async () => (await show(page, 'all')).outcome?.status === 401)
    }
    await cluster.allow({ token: 'good' })
    await follow(second, 'again', { server: cluster.url, token: 'good' })
    await equal(cluster, second, 'again')
    await first.evaluate(() => globalThis.stage.retry('all'))
    await equal(cluster, first)
  }))
}
