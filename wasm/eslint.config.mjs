// The lint rules of the package and of the dashboard. They report code that swallows a rejection or a caught error.
// `make lint-js` runs ESLint in the root of the repository.

import { fileURLToPath } from 'node:url'
import tseslint from 'typescript-eslint'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FILES = ['wasm/*.js', 'examples/browser/**/*.js']
const SWALLOWED = 'This swallows every failure. Handle only the expected failure, and pass on all others.'
const EMPTY = 'An empty function can hide failures that are passed to it.'

const swallowing = [
  'CatchClause:not([param])',
  ...["CallExpression[callee.property.name='catch'] > :function", "CallExpression[callee.property.name='then'] > :function:nth-child(2)"]
    .map((handler) => `${handler}:matches([params.length=0], [body.body.length=0])`),
].map((selector) => ({ selector, message: SWALLOWED }))
const empty = ['VariableDeclarator > :function[body.body.length=0]', 'FunctionDeclaration[body.body.length=0]']
  .map((selector) => ({ selector, message: EMPTY }))
const timers = [{ // no-misused-promises does not report these calls, because the type of setTimeout accepts any function
  selector: 'CallExpression[callee.name=/^set(Timeout|Interval)$/] > :function[async=true]', message: 'A rejection of this function is not handled.',
}]

const nodeGlobals = ['Buffer', 'global', 'process', 'setImmediate'].map((name) => ({
  name, message: 'Write globalThis in front of this name, or bundlers may replace it by a polyfill.',
}))

// A comment that disables a rule must name the rule and give a reason after "--". The problem is reported before the
// first column of the line, where a comment cannot disable it.
const reasons = {
  create: (context) => ({
    Program() {
      for (const { value, loc } of context.sourceCode.getAllComments()) {
        if (!/^\s*eslint-disable/.test(value) || /^\s*eslint-disable(-\S+)?\s+[\w@].*\s--\s+\S/s.test(value)) continue
        const at = { line: loc.start.line, column: -1 }
        context.report({ loc: { start: at, end: at }, message: 'Name the rule and give the reason: eslint-disable-next-line rule -- reason' })
      }
    },
  }),
}

export default [
  { ignores: ['wasm/test/**', 'wasm/go.js', 'wasm/listwatch.worker.js', 'examples/browser/listwatch/**'] },
  {
    files: FILES,
    languageOptions: { ecmaVersion: 2024, parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { listwatch: { rules: { reasons } } },
    rules: {
      'listwatch/reasons': 'error',
      'no-empty': 'error',
      'no-restricted-syntax': ['error', ...swallowing, ...empty, ...timers],
      'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'all', ignoreRestSiblings: true }],
    },
  },
  { files: ['wasm/*.js'], rules: { 'no-restricted-globals': ['error', ...nodeGlobals] } },
  {
    files: FILES,
    ignores: ['examples/browser/test/**'], // the promises that node:test returns need no await
    languageOptions: { parserOptions: { project: ['wasm/tsconfig.json', 'examples/browser/tsconfig.json'], tsconfigRootDir: ROOT } },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
    },
  },
]
