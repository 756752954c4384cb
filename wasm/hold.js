// Locks tell that somebody lives: whoever holds one is gone when another gets it, by whatever way it went.

/** Takes a lock for as long as this page or worker lives, and returns its name; "" where there are none. */
export async function hold() {
  if (!navigator.locks) return '' // in an insecure context: who crashes is not noticed
  const name = `listwatch ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  await new Promise((held) => navigator.locks.request(name, () => {
    held()
    return new Promise(() => {})
  }))
  return name
}

/** Resolves when whoever holds a lock is gone. */
export const gone = (name) => navigator.locks.request(name, { mode: 'shared' }, () => {})
