// In both browsers at a time, because most of it is waiting.
import { describe } from 'node:test'
import { dashboard } from './dashboard.mjs'
import { windows } from './windows.mjs'

describe('dashboard', { concurrency: 4 }, () => {
  for (const name of ['chrome', 'firefox']) {
    dashboard(name)
    windows(name)
  }
})
