import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Saves the results of a run in bench/results and updates the tables in the documents.
 * @param {string} run
 * @param {Record<string, number[]>} results see internal/testkit/published
 */
export function publish(run, results) {
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  execFileSync('go', ['run', './internal/tools/publish', run], { cwd, input: JSON.stringify(results), stdio: ['pipe', 'inherit', 'inherit'] })
}
