// Runs a TCP relay with a fixed port. Tests change its target, as if a server had been rebuilt at the same address.
import net from 'node:net'
import { once } from 'node:events'

/** @param {string} url the URL of the first target */
export async function relay(url) {
  let target = new URL(url)
  const sockets = new Set()
  const server = net.createServer((near) => {
    if (!target) return near.destroy()
    const far = net.connect(target.port, target.hostname)
    near.pipe(far).pipe(near)
    for (const [one, other] of [[near, far], [far, near]]) {
      sockets.add(one)
      one.on('error', () => other.destroy()).on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Breaks all connections. Later connections go to the new target, or fail if `url` is empty. */
    to(url) {
      target = url && new URL(url)
      for (const socket of sockets) socket.destroy()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
