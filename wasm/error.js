/** What went wrong, in a form that a program can act on. index.d.ts has the codes. */
export class ListWatchError extends Error {
  constructor(code, message, { status, reason, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ListWatchError'
    this.code = code
    if (status) this.status = status
    if (reason) this.reason = reason
    this.retryable = !FINAL.has(code)
  }
}

const FINAL = new Set(['unauthorized', 'forbidden', 'not-found', 'invalid', 'load', 'aborted', 'unsupported'])
