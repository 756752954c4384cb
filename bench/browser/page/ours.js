// Watches Pods with the package, in a page or in Node. `module` is the imported package. contenders.js describes `seen` and
// the result.

export async function ours(module, options, server, seen) {
  const loaded = module.init(options.init) // not awaited, because the package requests the list while it loads the module
  // The default transport "auto" could switch to a WebSocket, over which the server cannot send a large list.
  const pods = module.listWatch({ server, resource: 'pods', transport: 'http' })
  pods.subscribe((changes) => {
    for (const change of changes) { // parses each changed object, as if a user interface showed it
      if (!change.initial) seen(Number(change.object.metadata.resourceVersion))
    }
  })
  await Promise.all([loaded, pods.synced])
  return {
    size: () => pods.size,
    list: () => pods.list(),
    // Reads a field of each Pod, because the package parses an object only when its property `object` is first read.
    touch: () => pods.list().reduce((n, item) => n + item.object.metadata.name.length, 0),
  }
}
