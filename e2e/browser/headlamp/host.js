// Runs a plugin in the same way as Headlamp: it evaluates the plugin's script, which finds its libraries in pluginLib.
import * as React from 'react'
import { createRoot } from 'react-dom/client'

const root = createRoot(document.getElementById('root'))
globalThis.pluginLib = {
  React,
  K8s: { useCluster: () => 'main' },
  registerRoute: ({ component }) => root.render(React.createElement(component)),
}
const script = await fetch('/plugins/pods/main.js')
new Function(await script.text())()
