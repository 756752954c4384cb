import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

// Headless browsers do not load the icon, so only this test notices that a file of the page is missing.
test('the files that the page names exist', () => {
  const page = new URL('../index.html', import.meta.url)
  const names = [...readFileSync(page, 'utf8').matchAll(/ (?:href|src)="([^"#:]+)"/g)].map(([, name]) => name)
  assert.ok(names.includes('icon.svg'))
  assert.deepEqual(names.filter((name) => !existsSync(new URL(name, page))), [])
})
