// Sends GET requests to the API server. Each failure is a RequestError with a message for the user.

/** @typedef {{ server: string, token: string }} Link The server's URL without a trailing slash, and the bearer token or "". */

/**
 * Reports whether the page may save data of this server for the next visit. The next user of the browser could read data
 * that requires a token, or that a proxy has fetched with a user's credentials. Such a proxy has a path.
 * @param {Link} link
 */
export const maySave = ({ server, token }) => !token && /^\w+:\/\/[^/]+$/.test(server)

export class RequestError extends Error {
  /**
   * @param {'network' | 'malformed' | 'status'} code
   * @param {string} message
   * @param {{ status?: number, cause?: unknown }} [more] the HTTP status, if the server answered with an error
   */
  constructor(code, message, { status, cause } = {}) {
    super(message, { cause })
    this.code = code
    this.status = status
  }
}

/**
 * Returns the JSON document at a path.
 * @param {Link} link
 * @param {string} path the path with its query
 * @param {{ accept?: string, cache?: RequestCache, signal?: AbortSignal }} [how]
 * @returns {Promise<any>}
 */
export async function get({ server, token }, path, { accept, cache = 'no-store', signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = accept ? { Accept: accept } : {}
  if (token) headers.Authorization = `Bearer ${token}`
  let response, text
  try {
    response = await fetch(server + path, { headers, cache, signal })
    text = await response.text()
  } catch (cause) {
    throw new RequestError('network', `the server did not answer: ${messageOf(cause)}`, { cause })
  }
  const body = parse(text)
  const { ok, status } = response
  if (!ok) throw new RequestError('status', ['the server answered', status, ...body?.reason ? [body.reason] : []].join(' ') + (body?.message ? `: ${body.message}` : ''), { status })
  if (typeof body !== 'object' || !body) throw new RequestError('malformed', 'the response is not a JSON object')
  return body
}

/**
 * Parses JSON. Returns undefined for any other text, for example a proxy's error page.
 * @param {string} text
 */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error))
