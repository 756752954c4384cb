// Watches Pods with the package in a page or in Node. The argument `module` is the imported package.

export async function ours(module, options, server, seen) {
  await module.init(options.init)
  const pods = module.listWatch({ server, resource: 'pods', transport: 'http', project: options.project })
  pods.subscribe((changes) => {
    for (const { initial, object } of changes) { // reads the object, as a user interface would
      if (!initial) seen(Number(object.metadata.resourceVersion))
    }
  })
  await pods.synced
  return { size: () => pods.size, touch: () => pods.list().reduce((n, item) => n + item.object.metadata.name.length, 0) }
}
