// Starts a browser, "chrome" or "firefox". make test-browser sets the environment variables CHROME and FIREFOX to the
// programs.
import puppeteer from 'puppeteer-core'

const ARGS = {
  chrome: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
  firefox: [],
}

// After a failed WebSocket, Firefox delays the next one to the same server by up to a minute. The servers of these
// tests fail often, so the delay is disabled.
const extraPrefsFirefox = { 'network.websocket.delay-failed-reconnects': false }

/** @param how `trusted` is the SHA-256 of a server's public key, which makes the browser accept the server's certificate.
 * `args` are additional arguments of the browser. */
export function launch(browser, { trusted, args: more = [] } = {}) {
  const executablePath = process.env[browser.toUpperCase()]
  if (!executablePath) throw new Error(`${browser.toUpperCase()} is not set; run the tests with make test-browser`)
  const args = [...ARGS[browser], ...more]
  // --ignore-certificate-errors and acceptInsecureCerts do not apply to shared workers in Chromium.
  if (trusted && browser === 'chrome') args.push(`--ignore-certificate-errors-spki-list=${trusted}`)
  return puppeteer.launch({ browser, executablePath, args, headless: true, acceptInsecureCerts: !!trusted, extraPrefsFirefox })
}

/**
 * Opens a page. Firefox sometimes discards a new tab before its driver sees it, so this tries up to three times.
 */
export async function openPage(profile) {
  for (let tries = 1; ; tries++) {
    try {
      return await profile.newPage()
    } catch (error) {
      if (tries === 3 || !error.message.includes('DiscardedBrowsingContextError')) throw error
    }
  }
}
