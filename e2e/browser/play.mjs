// Runs tests of the dashboard in a browser, and saves screenshots in bin/screenshots/.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'
import { Stage } from './stage.mjs'
import { View } from './view.mjs'

mkdirSync(fileURLToPath(new URL('../../bin/screenshots/', import.meta.url)), { recursive: true })

export class Theatre {
  async begin(name) {
    [this.browser, this.stage] = await Promise.all([launch(name), Stage.start()])
    this.name = name
  }

  async end() {
    await this.browser?.close()
    this.stage?.stop()
  }

  /**
   * Returns a test that calls `course` with a new page and a new cluster. The test fails if a page reports an error.
   * @param course the body of the test; its third argument is a function that opens an address of the dashboard in
   * another tab
   */
  play(options, course) {
    return async () => {
      const profile = await this.browser.createBrowserContext()
      const cluster = await this.stage.cluster(options)
      const views = []
      const open = async (address) => {
        views.push(await View.open(this.name, profile, address, cluster))
        return views.at(-1)
      }
      try {
        await course(await open(`${this.stage.url}/ui/?server=${encodeURIComponent(cluster.url)}`), cluster, open)
        for (const { complaints } of views) assert.deepEqual(complaints, [])
      } finally {
        await profile.close()
        await cluster.stop()
      }
    }
  }
}
