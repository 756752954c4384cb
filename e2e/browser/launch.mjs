// Starts a browser, "chrome" or "firefox". CHROME and FIREFOX name the programs; make test-browser sets them.
import puppeteer from 'puppeteer-core'

const ARGS = {
  chrome: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
  firefox: [],
}

// After a WebSocket that failed, Firefox makes the next one to the same server wait, for up to a minute: it is given up here,
// as the tests' servers fail often.
const extraPrefsFirefox = { 'network.websocket.delay-failed-reconnects': false }

/** @param how `trusted`: the SHA-256 of a server's public key, whose certificate then need not be one that the browser knows;
 * `args`: more of the browser's */
export function launch(browser, { trusted, args: more = [] } = {}) {
  const executablePath = process.env[browser.toUpperCase()]
  if (!executablePath) throw new Error(`${browser.toUpperCase()} does not name a browser: run the tests by make test-browser`)
  const args = [...ARGS[browser], ...more]
  // --ignore-certificate-errors and acceptInsecureCerts do not reach Chromium's shared workers.
  if (trusted && browser === 'chrome') args.push(`--ignore-certificate-errors-spki-list=${trusted}`)
  return puppeteer.launch({ browser, executablePath, args, headless: true, acceptInsecureCerts: !!trusted, extraPrefsFirefox })
}

/** Opens a page. Firefox at times drops a new tab before its driver has seen it, and then the page is opened again. */
export async function openPage(profile) {
  for (let tries = 1; ; tries++) {
    try {
      return await profile.newPage()
    } catch (error) {
      if (tries === 3 || !error.message.includes('DiscardedBrowsingContextError')) throw error
    }
  }
}
