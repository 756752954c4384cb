// Operates a page of the dashboard and its cluster.
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

const groups = { deployments: 'apis/apps/v1', replicasets: 'apis/apps/v1', widgets: 'apis/lw.example.com/v1', customresourcedefinitions: 'apis/apiextensions.k8s.io/v1' }

/** A page of the dashboard, with functions that read and operate it. */
export class View {
  complaints = [] // errors that the page has reported

  /**
   * @param browser the name of the browser
   * @param address the URL of the dashboard
   */
  static async open(browser, profile, address, cluster) {
    const view = new View()
    view.browser = browser
    view.page = await openPage(profile)
    view.cluster = cluster
    view.address = address
    await view.page.setViewport({ width: 1440, height: 860 })
    // Some requests fail on purpose, and browsers log these failures.
    const complain = (text) => /^Failed to load resource|ERR_|Cross-Origin Request Blocked/.test(text) || view.complaints.push(text)
    view.page.on('pageerror', (error) => complain(String(error)))
    view.page.on('console', (message) => message.type() === 'error' && complain(message.text()))
    return view
  }

  async goto(hash) {
    await this.page.goto(this.address + hash)
  }

  text(selector) {
    return this.page.$eval(selector, (element) => element.textContent).catch(() => undefined) // undefined if the element does not exist yet
  }

  texts(selector) {
    return this.page.$$eval(selector, (all) => all.map((element) => element.textContent))
  }

  /** Waits until `look` returns `wanted`, or any truthy value if `wanted` is undefined. */
  async until(what, look, wanted) {
    let last
    await until(what, async () => {
      last = await look()
      return wanted === undefined ? last : last === wanted
    }, 30).catch((error) => assert.fail(`${error.message}; last value: ${JSON.stringify(last)}`))
  }

  /** Waits until the table shows exactly these keys in this order. If no key has a namespace, it compares only names. */
  rows(...keys) {
    const look = () => this.page.$$eval('.row:not([hidden])', (rows) => rows
      .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')).map((element) => element.dataset.key).join(' '))
    const namespaced = async () => (await look()).replaceAll(keys.some((key) => key.includes('/')) ? '' : /\S+\//g, '')
    return this.until(`the rows ${keys.join(' ')}`, namespaced, keys.join(' '))
  }

  /** Returns the text of a cell in a visible row. */
  cell(key, column) {
    return this.page.$$eval('.row:not([hidden])', (rows, key, column) => rows.find(({ dataset }) => dataset.key === key)?.children[column].textContent, key, column)
  }

  async clickHead(title) {
    // The button is found and clicked in one step, because the page may recreate the header.
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

  /**
   * Replaces the responses to the page's requests for paths that end with `path`. Requests of the package are not
   * affected, because a worker sends them.
   */
  answer(path, status, body) {
    return this.page.evaluate((path, status, body) => {
      globalThis.realFetch ??= globalThis.fetch
      const isIt = (url) => String(url).replace(/\?.*/, '').endsWith(path)
      globalThis.fetch = async (url, init) => (isIt(url) ? new Response(JSON.stringify(body), { status }) : globalThis.realFetch(url, init))
    }, path, status, body)
  }

  /** Lets requests reach the server again, after `answer`. */
  passOn() {
    return this.page.evaluate(() => { globalThis.fetch = globalThis.realFetch })
  }

  /**
   * Switches to the light or dark theme, by emulating the system's setting if the browser supports it.
   */
  async look(scheme) {
    const system = [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]
    const supported = await this.page.emulateMediaFeatures(system).then(() => true, () => false)
    if (supported) return
    await this.page.evaluate((scheme) => { document.documentElement.dataset.theme = scheme }, scheme)
    // An element has its final contrast only after it has faded in.
    await this.until('the end of all animations', () => this.page.evaluate(() => document.getAnimations()
      .every(({ playState, effect }) => playState === 'finished' || effect.getTiming().iterations === Infinity)))
  }

  /** Fails if axe finds a problem. `axe` is the path of its script, and `where` describes the state of the page. */
  async accessible(axe, where) {
    await this.page.evaluate(readFileSync(axe, 'utf8'))
    const { violations } = await this.page.evaluate(() => globalThis.axe.run()) // with all rules that are enabled by default
    const problems = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`)
    assert.deepEqual(problems, [], where)
  }

  /** Saves a screenshot for a visual check. */
  picture(name) {
    return this.page.screenshot({ path: fileURLToPath(new URL(`../../bin/screenshots/${name}-${this.browser}.png`, import.meta.url)) })
  }
}
