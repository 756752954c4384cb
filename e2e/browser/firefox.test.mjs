// Tests the package in Firefox; see chromium.test.mjs.
import { suite } from './suite.mjs'

suite('firefox')
