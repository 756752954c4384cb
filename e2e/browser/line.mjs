// Runs a TCP proxy for a kube-apiserver. A test can reset its connections and make it reject new ones, so that pages surely
// miss the writes during an outage.
import { once } from 'node:events'
import net from 'node:net'

/** Starts a proxy for a server. Returns the proxy's URL and functions that control the proxy. */
export async function line(server) {
  const { hostname, port } = new URL(server)
  const open = new Set()
  let isCut = false
  const listener = net.createServer((near) => {
    if (isCut) return near.resetAndDestroy()
    const far = net.connect(port, hostname)
    for (const [from, to] of [[near, far], [far, near]]) {
      open.add(from)
      from.pipe(to)
      from.on('error', () => {}).on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = () => {
    isCut = true
    for (const each of open) each.resetAndDestroy()
  }
  return {
    url: `https://${hostname}:${listener.address().port}`,
    cut,
    mend() { isCut = false },
    end() {
      cut()
      listener.close()
    },
  }
}
