// A context, such as a page or a worker, holds a Web Lock while it is alive. Another context waits for this lock to
// detect the end of the holder, even if the holder crashes.

/**
 * Acquires a lock for the lifetime of this context. The returned name is "" if locks are unavailable, for example in an
 * insecure context or a sandboxed frame. In this case, other contexts cannot detect a crash.
 * @returns {Promise<{ name: string, release: () => void }>}
 */
export function holdLifetimeLock() {
  // Unlike randomUUID, getRandomValues also exists in an insecure context.
  const name = `listwatch ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  return new Promise((resolve, reject) => {
    const none = { name: '', release() {} }
    if (!globalThis.navigator?.locks) return resolve(none)
    navigator.locks.request(name, () => new Promise((/** @type {(nothing: void) => void} */ release) => resolve({ name, release })))
      .catch((error) => (error?.name === 'SecurityError' ? resolve(none) : reject(error)))
  })
}

// Resolves when the context that holds this lock has ended or has released it. The mode is shared, so that several contexts
// can wait without blocking each other.
/** @param {string} name */
export const lifetimeEnd = (name) => navigator.locks.request(name, { mode: 'shared' }, () => {})
