// The dashboard as a test sees it, and the cluster that it shows.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openPage } from './launch.mjs'
import { until } from './stage.mjs'

export const pod = (name, namespace = 'shop', labels = {}) => ({
  metadata: { name, namespace, labels },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'images.example/web:1' }] },
  status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ name: 'main', ready: true, restartCount: 0, state: { running: {} } }] },
})

const groups = { deployments: 'apis/apps/v1', widgets: 'apis/lw.example.com/v1' }

export class View {
  complaints = [] // what the page wrote to the console as an error

  /**
   * @param browser its name
   * @param address the URL of the dashboard
   */
  static async open(browser, profile, address, cluster) {
    const view = new View()
    view.browser = browser
    view.page = await openPage(profile)
    view.cluster = cluster
    view.address = address
    await view.page.setViewport({ width: 1440, height: 860 })
    // Browsers write of requests that fail by themselves, and some fail on purpose here.
    const complain = (text) => /^Failed to load resource|ERR_|Cross-Origin Request Blocked/.test(text) || view.complaints.push(text)
    view.page.on('pageerror', (error) => complain(String(error)))
    view.page.on('console', (message) => message.type() === 'error' && complain(message.text()))
    return view
  }

  async goto(hash) {
    await this.page.goto(this.address + hash)
  }

  text(selector) {
    return this.page.$eval(selector, (element) => element.textContent).catch(() => undefined) // it is not there yet
  }

  texts(selector) {
    return this.page.$$eval(selector, (all) => all.map((element) => element.textContent))
  }

  /** Waits until `look` returns `wanted`, or without that, what is not falsy. */
  async until(what, look, wanted) {
    let last
    await until(what, async () => {
      last = await look()
      return wanted === undefined ? last : last === wanted
    }, 30).catch((error) => assert.fail(`${error.message}; at last: ${JSON.stringify(last)}`))
  }

  /** Waits until the table shows these keys, from top to bottom. */
  rows(...keys) {
    const look = () => this.page.$$eval('.row:not([hidden])', (rows) => rows
      .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')).map((element) => element.dataset.key).join(' '))
    const namespaced = async () => (await look()).replaceAll(keys.some((key) => key.includes('/')) ? '' : /\S+\//g, '')
    return this.until(`the rows ${keys.join(' ')}`, namespaced, keys.join(' '))
  }

  /** The text of a cell in a row that is in sight. */
  cell(key, column) {
    return this.page.$$eval('.row:not([hidden])', (rows, key, column) => rows.find(({ dataset }) => dataset.key === key)?.children[column].textContent, key, column)
  }

  async clickHead(title) {
    // At once, as the head is made anew while a page begins.
    await this.page.evaluate((title) => [...document.querySelectorAll('.head button')].find((b) => b.textContent === title).click(), title)
  }

  async #write(method, path, body, token, type = 'application/json') {
    const headers = { 'Content-Type': type, ...(token && { Authorization: `Bearer ${token}` }) }
    const answer = await fetch(`${this.cluster.url}/${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    await answer.text()
  }

  create(plural, object, token) {
    const { namespace } = object.metadata
    return this.#write('POST', `${groups[plural] ?? 'api/v1'}/${namespace ? `namespaces/${namespace}/` : ''}${plural}`, object, token)
  }

  patch(plural, namespace, name, patch) {
    return this.#write('PATCH', `${groups[plural] ?? 'api/v1'}/namespaces/${namespace}/${plural}/${name}`, patch, '', 'application/merge-patch+json')
  }

  remove(plural, namespace, name) {
    return this.#write('DELETE', `${groups[plural] ?? 'api/v1'}/namespaces/${namespace}/${plural}/${name}`)
  }

  /** Answers the page's own requests whose path ends so. Requests of the package come from its worker and are not affected. */
  answer(path, status, body) {
    return this.page.evaluate((path, status, body) => {
      globalThis.realFetch ??= globalThis.fetch
      const isIt = (url) => String(url).replace(/\?.*/, '').endsWith(path)
      globalThis.fetch = async (url, init) => (isIt(url) ? new Response(JSON.stringify(body), { status }) : globalThis.realFetch(url, init))
    }, path, status, body)
  }

  /** Ends the answers. */
  passOn() {
    return this.page.evaluate(() => { globalThis.fetch = globalThis.realFetch })
  }

  /** Light or dark: as the system has it where the browser can be told, else as the user chose. */
  async look(scheme) {
    const system = [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]
    const told = await this.page.emulateMediaFeatures(system).then(() => true, () => false)
    if (told) return
    await this.page.evaluate((scheme) => { document.documentElement.dataset.theme = scheme }, scheme)
    // What fades has any contrast on its way.
    await this.until('the end of what moves', () => this.page.evaluate(() => document.getAnimations()
      .every(({ playState, effect }) => playState === 'finished' || effect.getTiming().iterations === Infinity)))
  }

  async accessible(axe, where) {
    await this.page.evaluate(readFileSync(axe, 'utf8'))
    const { violations } = await this.page.evaluate(() => globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }))
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`)
    assert.deepEqual(told, [], where)
  }

  /** Keeps a picture, for eyes: no test compares it. */
  picture(name) {
    return this.page.screenshot({ path: fileURLToPath(new URL(`../../bin/screenshots/${name}-${this.browser}.png`, import.meta.url)) })
  }
}
