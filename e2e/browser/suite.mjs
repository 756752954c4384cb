// Tests the package in a browser, in every mode and over every transport.
import { after, before, describe, it } from 'node:test'
import { connections } from './connections.mjs'
import { course } from './course.mjs'
import { origin } from './origin.mjs'
import { inPlaces } from './places.mjs'
import { rebuilt } from './rebuilt.mjs'
import { refusals } from './refusals.mjs'
import { Scene } from './scene.mjs'
import { secrets } from './secrets.mjs'
import { states } from './states.mjs'
import { tabs } from './tabs.mjs'
import { transports } from './transports.mjs'

const MODES = ['main', 'worker', 'shared']

export function suite(name) {
  describe(name, { concurrency: 9 }, () => { // the tests mostly wait
    const scene = new Scene(name)
    before(() => scene.begin())
    after(() => scene.end())

    for (const mode of MODES) {
      for (const transport of mode === 'shared' ? ['http', 'ws', 'auto'] : ['http', 'ws']) {
        it(`${mode}, ${transport}: the page catches up with the server after every failure`, () => scene.fresh(async (profile) => {
          await course(await scene.cluster({ tokens: { first: true, second: true } }), await scene.open(profile, { mode }), transport)
        }))
      }
    }
    refusals(scene, MODES)
    states(scene, MODES)
    secrets(scene, MODES)
    tabs(scene)
    transports(scene)
    origin(scene)
    connections(scene)
    inPlaces(scene, MODES)
    rebuilt(scene)
  })
}
