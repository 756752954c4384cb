import { clientgo, load } from './clientgo.js'

onmessage = async ({ data: server }) => {
  await load()
  const pods = await clientgo(server, (version) => postMessage({ version }))
  postMessage({ size: pods.size() })
}
