// A Web Lock shows that its holder is alive: another context gets the lock when the holder is gone, for whatever reason.

/**
 * Takes a lock and returns its name. The name is "" where locks are missing, such as in an insecure context, or forbidden,
 * such as in a sandboxed frame; a crash is not noticed there.
 * @returns {Promise<{ name: string, release: () => void }>}
 */
export function hold() {
  const name = `listwatch ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  return new Promise((resolve, reject) => {
    const nothing = { name: '', release() {} }
    if (!globalThis.navigator?.locks) return resolve(nothing)
    navigator.locks.request(name, () => new Promise((release) => resolve({ name, release: () => release(undefined) })))
      .catch((error) => (error?.name === 'SecurityError' ? resolve(nothing) : reject(error)))
  })
}

/**
 * Resolves when the holder of a lock is gone.
 * @param {string} name
 */
export const gone = (name) => navigator.locks.request(name, { mode: 'shared' }, () => {})
