// Starts a browser, "chrome" or "firefox". The environment variables CHROME and FIREFOX contain the paths of the
// browsers.
import puppeteer from 'puppeteer-core'

// Chromium loads two pages for the suggestions below its address bar in each new window, although nobody types there. This
// takes a second of CPU time, which is more than many tests need.
const UNUSED = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup'

const ARGS = {
  chrome: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', UNUSED],
  firefox: [],
}

// Firefox delays a WebSocket by up to a minute if the previous WebSocket to the same server failed. The tests disable
// this delay.
const extraPrefsFirefox = { 'network.websocket.delay-failed-reconnects': false }

/** @param how `trusted` is the SHA-256 of a server's public key, which makes the browser accept the server's certificate.
 * `args` are additional arguments of the browser. */
export function launch(browser, { trusted, args: more = [] } = {}) {
  const executablePath = process.env[browser.toUpperCase()]
  if (!executablePath) throw new Error(`${browser.toUpperCase()} is not set; run the tests with make test-browser`)
  const args = [...ARGS[browser], ...more]
  // In Chromium, --ignore-certificate-errors and acceptInsecureCerts have no effect on shared workers.
  if (trusted && browser === 'chrome') args.push(`--ignore-certificate-errors-spki-list=${trusted}`)
  return puppeteer.launch({ browser, executablePath, args, headless: true, acceptInsecureCerts: !!trusted, extraPrefsFirefox })
}

/** Opens a page. Makes up to three attempts, because Firefox sometimes closes a new tab immediately. */
export async function openPage(profile) {
  for (let tries = 1; ; tries++) {
    try {
      return await profile.newPage()
    } catch (error) {
      if (tries === 3 || !error.message.includes('DiscardedBrowsingContextError')) throw error
    }
  }
}
