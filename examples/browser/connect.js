// Manages the server and the token of the page. The URL of the page contains the server. The token stays in memory, so
// that the next user of the browser cannot read it.

import { $, $of } from './dom.js'

/** @import { Link } from './request.js' */

const withoutSlash = (/** @type {string} */ url) => url.replace(/\/+$/, '')

// Returns the server that serves the page in its folder /ui/. A proxy may put both behind a path.
const ownServer = () => withoutSlash(new URL('..', location.href).href)

/** Returns the server in the page's URL. The default is the server that serves the page. */
export function serverOfPage() {
  return withoutSlash(new URLSearchParams(location.search).get('server') || ownServer())
}

/**
 * Returns the name of a server for the user. A program that serves the page, such as examples/demo, may put a name for its own
 * server into the URL. Other servers do not get this name, because it would mislead the user.
 * @param {string} server
 */
export function nameOfServer(server) {
  const name = server === ownServer() && new URLSearchParams(location.search).get('name')
  return name || server.replace(/^https?:\/\//, '')
}

/**
 * Asks the user for a server and a token. Resolves with undefined if the user cancels.
 * @param {Link} link the current server and token
 * @param {string} [why]
 * @returns {Promise<Link | undefined>}
 */
export function askForServer({ server, token }, why = '') {
  const dialog = $of('connect', HTMLDialogElement)
  const serverInput = $of('connect-server', HTMLInputElement), tokenInput = $of('connect-token', HTMLInputElement)
  serverInput.value = server
  tokenInput.value = token
  $('connect-why').textContent = why
  $('connect-why').hidden = !why
  $('connect-cancel').onclick = () => dialog.close('')
  if (!dialog.open) dialog.showModal() // it is open if the server rejects a token while the user enters another one
  const first = why ? tokenInput : serverInput // `why` is a rejection, and another token may help
  first.focus()
  return new Promise((resolve) => {
    dialog.onclose = () => {
      const answer = { server: withoutSlash(serverInput.value.trim()) || ownServer(), token: tokenInput.value.trim() }
      tokenInput.value = '' // so that the token does not stay in the document
      const connect = dialog.returnValue === 'connect'
      dialog.returnValue = '' // otherwise Esc would keep the answer of the last use
      resolve(connect ? answer : undefined)
    }
  })
}

/**
 * Saves the server in the page's URL, so that a reload uses it.
 * @param {string} server
 */
export function remember(server) {
  const url = new URL(location.href)
  if (server === ownServer()) url.searchParams.delete('server')
  else url.searchParams.set('server', server)
  history.replaceState(null, '', url)
}
