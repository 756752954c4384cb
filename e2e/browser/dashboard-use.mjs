// Tests how a user finds an object in the dashboard: keyboard, search, filters, links, columns and small screens.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { Theatre } from './play.mjs'
import { pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')
const focused = (view) => view.page.evaluate(() => document.activeElement.id || document.activeElement.textContent)

/** Declares the tests for a browser. */
export function usage(name) {
  describe(`${name}, usage`, { concurrency: 1 }, () => {
    const theatre = new Theatre(), play = theatre.play.bind(theatre)
    before(() => theatre.begin(name))
    after(() => theatre.end())

    it('accepts keys immediately after loading, sorts by column and explains the keys', play({}, async (view) => {
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b')
      assert.equal(await focused(view), 'grid')
      const press = (key) => view.page.keyboard.press(key)
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await press(key)
      await view.until('the detail', () => view.text('#detail-name'), 'b')
      await press('Escape')
      await view.until('the closed detail', () => view.page.$eval('#detail', (e) => e.hidden))
      await press('2')
      await view.rows('shop/a', 'shop/b')
      await press('2')
      await view.rows('shop/b', 'shop/a')
      await press('?')
      assert.equal(await view.page.$eval('#help', (e) => e.matches(':modal')), true)
      await view.accessible(axe, 'help')
      await press('Escape')
      await view.until('the closed help', () => view.page.$eval('#help', (e) => !e.open))
      assert.equal(await focused(view), 'grid')
      await press('/')
      assert.equal(await focused(view), 'search')
    }))

    it('sorts by a column title that Tab reaches', play({}, async (view) => {
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b')
      const order = () => view.page.$eval('.head > :nth-child(2)', (title) => title.getAttribute('aria-sort'))
      for (const key of ['Tab', 'Tab', 'Enter']) await view.page.keyboard.press(key)
      assert.equal(await focused(view), 'Name')
      assert.equal(await order(), 'ascending')
      await view.page.keyboard.press('Enter')
      assert.equal(await order(), 'descending')
      await view.rows('shop/b', 'shop/a')
    }))

    it('finds exact labels', play({}, async (view) => {
      for (const app of ['app7', 'app70']) await view.create('pods', pod(app, 'shop', { app }))
      await view.goto('#/v1/pods')
      await view.page.type('#search', 'app=app7')
      await view.rows('shop/app7')
    }))
  })
}
