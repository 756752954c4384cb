// Tests the package in Chromium. Node runs each test file in its own process, so firefox.test.mjs runs at the same time.
import { suite } from './suite.mjs'

suite('chrome')
