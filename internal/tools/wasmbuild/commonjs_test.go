package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConvertsModulesToCommonJS(t *testing.T) {
	script, imported, err := asCommonJS([]byte(`'use client'
import { a, b as c } from './other.js'
import { useMemo } from 'react'
import { connect } from './connect.js'
export { d } from './last.js'
export const ONE = 1, TWO = -2,
  THREE = 3
export let late
export async function f() { return import.meta.url + await import('./later.js') }
export class C {}
`))
	require.NoError(t, err)
	require.Equal(t, []string{"last", "other", "connect", "later"}, imported)
	require.Equal(t, `'use client'
'use strict'
const { a, b: c } = require('./other.cjs')
const { useMemo } = require('react')
const connect = (...args) => require('./connect.cjs').connect(...args)
Object.assign(exports, (({ d }) => ({ d }))(require('./last.cjs')))
const ONE = 1, TWO = -2,
  THREE = 3
let late
async function f() { return ('file://' + __filename.replace(/[%#?]/g, encodeURIComponent)) + require('./later.cjs') }
class C {}
Object.assign(exports, { ONE, TWO, THREE, late, f, C })
`, string(script))
}

func TestRejectsUnknownModuleSyntax(t *testing.T) {
	for _, module := range []string{"import x from './x.js'", "import * as x from './x.js'", "import './x.js'", "export default 1", "export const { x } = y", "export * from './x.js'"} {
		_, _, err := asCommonJS([]byte(module))
		require.ErrorContains(t, err, "unsupported syntax: "+module)
	}
}
