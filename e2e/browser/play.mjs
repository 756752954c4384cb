// A browser in which courses of the dashboard are played. Pictures of it go to bin/screenshots/.
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

  /** A test that plays a course with a cluster of its own, and a page that must not complain. */
  play(options, course) {
    return async () => {
      const profile = await this.browser.createBrowserContext()
      const cluster = await this.stage.cluster(options)
      try {
        const view = await View.open(this.name, profile, this.stage.url, cluster)
        await course(view, cluster)
        assert.deepEqual(view.complaints, [])
      } finally {
        await profile.close()
        await cluster.close()
      }
    }
  }
}
