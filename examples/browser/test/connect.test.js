import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, reload, window } from './support/page.js'
import { askForServer, nameOfServer, remember, serverOfPage } from '../connect.js'
import { maySave } from '../request.js'

const at = (url) => window.happyDOM.setURL(url)
const submit = () => byId('connect').close('connect')
beforeEach(() => {
  reload()
  at('http://page.example/')
})

test('the server is read from the page\'s URL and defaults to the page\'s origin', () => {
  assert.equal(serverOfPage(), 'http://page.example')
  at('http://page.example/?server=http://api.example/k8s//')
  assert.equal(serverOfPage(), 'http://api.example/k8s')
  at('http://page.example/?server=')
  assert.equal(serverOfPage(), 'http://page.example')
})

test('the server that serves the page may be behind a path, and the URL may name it', () => {
  at('http://page.example/secret/ui/?name=production#/v1/pods')
  assert.equal(serverOfPage(), 'http://page.example/secret')
  assert.equal(nameOfServer(serverOfPage()), 'production')
  assert.equal(nameOfServer('https://other.example'), 'other.example')
  at('http://page.example/ui/')
  assert.equal(nameOfServer(serverOfPage()), 'page.example')
})

test('data is saved neither for a server with a token nor for a proxy behind a path', () => {
  for (const [server, token, expected] of [['http://page.example', '', true], ['http://page.example', 't', false], ['http://page.example/secret', '', false]]) {
    assert.equal(maySave({ server, token }), expected, server)
  }
})

test('a server is saved in the URL unless it is the page\'s origin', () => {
  at('http://page.example/?x=1#/v1/pods')
  remember('http://api.example')
  assert.equal(location.href, 'http://page.example/?x=1&server=http%3A%2F%2Fapi.example#/v1/pods')
  assert.equal(serverOfPage(), 'http://api.example')
  remember('http://page.example')
  assert.equal(location.href, 'http://page.example/?x=1#/v1/pods')
})

test('the dialog returns the server and the token and clears the token field', async () => {
  const answer = askForServer({ server: 'http://old.example', token: 'old' })
  assert.equal(byId('connect').open, true)
  assert.equal(byId('connect-server').value, 'http://old.example')
  assert.equal(byId('connect-token').value, 'old')
  assert.equal(byId('connect-why').hidden, true)
  assert.equal(document.activeElement.id, 'connect-server')
  byId('connect-server').value = ' http://api.example// '
  byId('connect-token').value = ' secret '
  submit()
  assert.deepEqual(await answer, { server: 'http://api.example', token: 'secret' })
  assert.equal(byId('connect-token').value, '')
})

test('an empty server URL selects the page\'s origin', async () => {
  const answer = askForServer({ server: 'http://old.example', token: '' })
  byId('connect-server').value = ' '
  submit()
  assert.deepEqual(await answer, { server: 'http://page.example', token: '' })
})

test('the dialog focuses the token field if it shows the reason for a rejection', async () => {
  const answer = askForServer({ server: 'http://old.example', token: '' }, 'the token is wrong')
  assert.equal(byId('connect-why').textContent, 'the token is wrong')
  assert.equal(byId('connect-why').hidden, false)
  assert.equal(document.activeElement.id, 'connect-token')
  byId('connect-cancel').dispatchEvent(new Event('click'))
  assert.equal(byId('connect').open, false)
  assert.equal(await answer, undefined)
})

test('Escape cancels the dialog even after an earlier submission', async () => {
  const first = askForServer({ server: 'http://a.example', token: '' })
  submit()
  await first
  const second = askForServer({ server: 'http://a.example', token: '' })
  const dialog = byId('connect')
  dialog.close(dialog.returnValue) // happy-dom's close() would clear the return value, but Escape in a browser keeps it
  assert.equal(await second, undefined)
})

test('a dialog that is already open is not opened again', async () => {
  byId('connect').showModal()
  byId('connect').showModal = () => assert.fail('showModal() must not be called on an open dialog')
  const answer = askForServer({ server: 'http://a.example', token: '' })
  submit()
  assert.deepEqual(await answer, { server: 'http://a.example', token: '' })
})
