/** @import { ErrorCode } from './types.js' */

/** Codes of errors that a retry cannot fix. */
const FINAL = new Set(['unauthorized', 'forbidden', 'not-found', 'invalid', 'load', 'storage', 'aborted', 'unsupported'])

/** The error that this package uses for every failure. */
export class ListWatchError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {{ status?: number | undefined, reason?: string | undefined, cause?: unknown }} [details]
   */
  constructor(code, message, details = {}) {
    const { status, reason, cause } = details
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ListWatchError'
    /** The kind of failure. @readonly @type {ErrorCode} */
    this.code = code
    if (status) {
      /** The HTTP status; undefined if the server did not respond. @readonly @type {number | undefined} */
      this.status = status
    }
    if (reason) {
      /** The `reason` field of the Kubernetes Status, for example `"Forbidden"`. @readonly @type {string | undefined} */
      this.reason = reason
    }
    /** Reports whether a retry without any change could succeed. @readonly @type {boolean} */
    this.retryable = !FINAL.has(code)
  }
}
