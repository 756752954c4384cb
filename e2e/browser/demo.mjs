// Tests the dashboard of examples/demo.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch, openPage } from './launch.mjs'
import { until } from './stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Runs the demo, calls `use` with the URL of its dashboard, and stops the demo. A script takes the place of lwcat, whose
 * output the test does not need. The demo looks for it, and for its pages, in the working folder.
 */
async function running(use) {
  const folder = mkdtempSync(join(tmpdir(), 'listwatch-'))
  execFileSync('go', ['build', '-o', join(folder, 'demo'), './examples/demo'], { cwd: root })
  symlinkSync(join(root, 'examples'), join(folder, 'examples'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/lwcat'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o700 })
  const demo = spawn('./demo', { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  let printed = ''
  demo.stdout.on('data', (text) => { printed += text })
  try {
    await use(...await until('the URL', () => /http\S+ui\//.exec(printed)))
  } finally {
    const exit = once(demo, 'exit')
    demo.kill('SIGINT')
    await exit
    rmSync(folder, { recursive: true })
  }
}

/** Declares the tests for a browser. */
export function demo(name) {
  describe(`${name}, demo`, () => {
    it('finds Pods with each search that the help shows, and causes no error response', () => running(async (url) => {
      const browser = await launch(name)
      try {
        const page = await openPage(browser)
        const errors = []
        page.on('response', (response) => response.status() >= 400 && errors.push(response.url()))
        await page.goto(`${url}#/v1/pods`)
        const searches = await page.$$eval('#help code', (all) => all.map((code) => code.textContent))
        assert.equal(searches.length, 5)
        for (const search of searches) {
          await page.evaluate((search) => {
            const input = document.getElementById('search')
            input.value = search
            input.dispatchEvent(new Event('input'))
            return new Promise(requestAnimationFrame) // the page draws the results in the same frame
          }, search)
          const found = () => page.$eval('#count', (e) => Number(/^(\d+) of/.exec(e.textContent)?.[1]))
          await until(`a Pod that the search ${search} finds`, found, 20)
        }
        assert.deepEqual(errors, [])
      } finally {
        await browser.close()
      }
    }))
  })
}
