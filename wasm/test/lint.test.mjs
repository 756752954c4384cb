// Tests that the lint rules reject code that ignores a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ESLint } from 'eslint'

const root = fileURLToPath(new URL('../..', import.meta.url))
// With CI=true, the parser would read the types of the file on disk instead of those of the given code.
const languageOptions = { parserOptions: { disallowAutomaticSingleRunInference: true } }
const eslint = new ESLint({ cwd: root, overrideConfigFile: 'wasm/eslint.config.mjs', overrideConfig: { languageOptions } })

// Returns the names of the rules that reject the code. The code is linted as the file wasm/error.js.
async function rejecting(code) {
  const [{ messages }] = await eslint.lintText(code, { filePath: `${root}wasm/error.js` })
  for (const { fatal, message } of messages) assert.ok(!fatal, message)
  return [...new Set(messages.map(({ ruleId, message }) => ruleId ?? message))].sort().join()
}

const given = `const p = Promise.reject(new Error('lost')), use = (error) => { p.catch(use); throw error }\nexport { p, use }\n`

const swallowing = {
  'try { use() } catch {}': 'no-empty,no-restricted-syntax',
  'try { use() } catch { /* it is harmless */ }': 'no-restricted-syntax',
  'try { use() } catch { use(1) }': 'no-restricted-syntax',
  'try { use() } catch (error) { use(1) }': 'no-unused-vars',
  'try { use() } catch (error) { /* it is harmless */ }': 'no-unused-vars',
  'p.catch(() => {})': 'no-restricted-syntax',
  'p.catch(() => null)': 'no-restricted-syntax',
  'p.catch((error) => {})': 'no-restricted-syntax,no-unused-vars',
  'p.catch((error) => null)': 'no-unused-vars',
  'p.catch(function () { use(1) })': 'no-restricted-syntax',
  'p?.catch(() => use(1))': 'no-restricted-syntax',
  'p.then(use).catch(() => use(1))': 'no-restricted-syntax',
  'p.then(use, () => {})': 'no-restricted-syntax',
  'p.then(use, () => use(1))': 'no-restricted-syntax',
  'p.then(undefined, (error) => undefined)': 'no-unused-vars',
  'const noop = () => {}; p.catch(noop)': 'no-restricted-syntax',
  'function noop() {}; p.catch(noop)': 'no-restricted-syntax',
  'p': '@typescript-eslint/no-floating-promises',
  'void p': '@typescript-eslint/no-floating-promises',
  'p.then(use)': '@typescript-eslint/no-floating-promises',
  'p.finally(() => use(1))': '@typescript-eslint/no-floating-promises',
  '(async () => use(1))()': '@typescript-eslint/no-floating-promises',
  'if (p) use(1)': '@typescript-eslint/no-misused-promises',
  'setTimeout(async () => use(1))': 'no-restricted-syntax',
  'queueMicrotask(async () => use(1))': '@typescript-eslint/no-misused-promises',
  "addEventListener('online', async () => use(1))": '@typescript-eslint/no-misused-promises',
  '[1].forEach(async () => use(1))': '@typescript-eslint/no-misused-promises',
}
for (const [code, rules] of Object.entries(swallowing)) {
  test(`rejected: ${code}`, async () => assert.equal(await rejecting(given + code), rules))
}

const handling = [
  'p.catch(use)', 'p.catch((error) => use(error))', 'p.then(use, use)', 'p.then(() => use(1), (error) => use(error))', 'await p',
  'try { use() } catch (error) { if (!(error instanceof URIError)) throw error }', 'try { use() } finally { use(1) }',
  'new Promise((resolve) => { resolve() }).catch(use)', 'use(() => {})',
]
for (const code of handling) {
  test(`accepted: ${code}`, async () => assert.equal(await rejecting(given + code), ''))
}

test('a disable comment must name a rule and give a reason', async () => {
  const off = (comment) => rejecting(`${given}${comment}\np.catch(() => {})`)
  assert.equal(await off('// eslint-disable-next-line no-restricted-syntax -- the caller waits for p, too'), '')
  assert.equal(await off('// eslint-disable-next-line no-restricted-syntax'), 'listwatch/reasons')
  assert.match(await off('// eslint-disable-next-line no-restricted-syntax --'), /^listwatch\/reasons,no-restricted-syntax/)
  assert.equal(await off('// eslint-disable-next-line -- it is harmless'), 'listwatch/reasons')
  assert.equal(await off('/* eslint-disable */'), 'listwatch/reasons')
  assert.match(await off('// eslint-disable-next-line no-empty -- it is harmless'), /^Unused eslint-disable directive.*,no-restricted-syntax$/)
})
