// Runs the dashboard tests in both browsers at the same time, because the tests mostly wait.
import { describe } from 'node:test'
import { dashboard } from './dashboard.mjs'
import { demo } from './demo.mjs'
import { usage } from './dashboard-use.mjs'
import { windows } from './windows.mjs'

describe('dashboard', { concurrency: 4 }, () => {
  for (const name of ['chrome', 'firefox']) {
    dashboard(name)
    usage(name)
    windows(name)
    demo(name)
  }
})
