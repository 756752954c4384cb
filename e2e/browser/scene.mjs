import { launch, openPage } from './launch.mjs'
import { Stage } from './stage.mjs'

/** Starts a browser and a test server for the tests of a file, and opens pages. */
export class Scene {
  constructor(browser) {
    this.name = browser
  }

  /** @param how the options for launch() */
  async begin(how) {
    this.stage = await Stage.start()
    this.browser = await launch(this.name, how)
  }

  async end() {
    await this.browser?.close()
    this.stage?.stop()
  }

  cluster(options) {
    return this.stage.cluster(options)
  }

  /** Calls `f` with a new browser profile. */
  async fresh(f) {
    const profile = await this.browser.createBrowserContext()
    try {
      return await f(profile)
    } finally {
      await profile.close()
    }
  }

  /** Opens a page and loads the package from a folder of the test server. */
  async open(profile, options, folder) {
    const page = await openPage(profile)
    await this.load(page, options, folder)
    return page
  }

  async load(page, options, folder) {
    await page.goto(`${this.stage.url}/index.html`)
    // By default, Puppeteer looks once per animation frame, but tabs in the background have no frames.
    await page.waitForFunction('globalThis.stage', { polling: 20 })
    await page.evaluate((options, folder) => globalThis.stage.load(options, folder), options, folder)
  }
}
