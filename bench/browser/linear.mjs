/**
 * Returns the size in MB of all WebAssembly memories of a page, a worker or a Node process, because neither
 * measureUserAgentSpecificMemory nor heapUsed includes them. `send` sends a command of the DevTools protocol.
 */
export async function linear(send) {
  // All WebAssembly memories have this prototype, so the search for its objects finds them.
  const { result } = await send('Runtime.evaluate', { expression: 'WebAssembly.Memory.prototype' })
  const { objects } = await send('Runtime.queryObjects', { prototypeObjectId: result.objectId })
  const { result: { value } } = await send('Runtime.callFunctionOn', {
    objectId: objects.objectId,
    functionDeclaration: 'function () { return this.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) }',
    returnByValue: true,
  })
  return value / 1e6
}
