// The package in a real browser, in every mode and over every transport.
import { after, before, describe, it } from 'node:test'
import { course } from './course.mjs'
import { launch } from './launch.mjs'
import { refusals } from './refusals.mjs'
import { Stage } from './stage.mjs'
import { states } from './states.mjs'
import { tabs } from './tabs.mjs'

const MODES = ['main', 'worker', 'shared']

export function suite(name) {
  describe(name, { concurrency: 9 }, () => {
    const scene = new Scene(name)
    before(() => scene.begin())
    after(() => scene.end())

    for (const mode of MODES) {
      for (const transport of mode === 'shared' ? ['http', 'ws', 'auto'] : ['http', 'ws']) {
        it(`${mode}, ${transport}: what the page shows comes to what the server has, whatever happens`, () => scene.fresh(async (profile) => {
          await course(await scene.cluster({ tokens: { first: 'admin', second: 'admin' } }), await scene.open(profile, { mode }), transport)
        }))
      }
    }
    refusals(scene, MODES)
    states(scene, MODES)
    tabs(scene)
  })
}

/** A browser, and the stage. */
class Scene {
  constructor(browser) {
    this.name = browser
  }

  async begin() {
    this.stage = await Stage.start()
    this.browser = await launch(this.name)
  }

  async end() {
    await this.browser?.close()
    this.stage?.stop()
  }

  cluster(options) {
    return this.stage.cluster(options)
  }

  /** Calls `f` with a profile, so that nothing is shared with other tests. */
  async fresh(f) {
    const profile = await this.browser.createBrowserContext()
    try {
      return await f(profile)
    } finally {
      await profile.close()
    }
  }

  /** Opens a page, and in it the package from a folder of the stage. */
  async open(profile, options, folder) {
    const page = await profile.newPage()
    await this.load(page, options, folder)
    return page
  }

  async load(page, options, folder) {
    await page.goto(`${this.stage.url}/index.html`)
    await page.waitForFunction('globalThis.stage', { polling: 20 })
    await page.evaluate((options, folder) => globalThis.stage.load(options, folder), options, folder)
  }
}
