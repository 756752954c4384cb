// Which server, and with which token. The URL of the page has the server; the token is in memory only.

import { $ } from './dom.js'

/** The server that the page's URL names; by default the one that served the page. */
export function serverOfPage() {
  return (new URLSearchParams(location.search).get('server') || location.origin).replace(/\/+$/, '')
}

/** Asks for a server and a token. Resolves with them, or with undefined if the user thinks better of it. */
export function ask({ server, token }, why = '') {
  const dialog = $('connect')
  $('connect-server').value = server
  $('connect-token').value = token
  $('connect-why').textContent = why
  $('connect-why').hidden = !why
  $('connect-cancel').onclick = () => dialog.close('')
  if (!dialog.open) dialog.showModal()
  $(why ? 'connect-token' : 'connect-server').focus()
  return new Promise((resolve) => {
    dialog.onclose = () => {
      const answer = { server: $('connect-server').value.trim().replace(/\/+$/, '') || location.origin, token: $('connect-token').value.trim() }
      $('connect-token').value = ''
      const connect = dialog.returnValue === 'connect'
      dialog.returnValue = ''
      resolve(connect ? answer : undefined)
    }
  })
}

/** Puts the server into the page's URL, so that a reload finds it. */
export function remember(server) {
  const url = new URL(location.href)
  if (server === location.origin) url.searchParams.delete('server')
  else url.searchParams.set('server', server)
  history.replaceState(null, '', url)
}
