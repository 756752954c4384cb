// In both browsers at a time, as most of it is waiting.
import { describe } from 'node:test'
import { dashboard } from './dashboard.mjs'

describe('dashboard', { concurrency: 2 }, () => {
  dashboard('chrome')
  dashboard('firefox')
})
