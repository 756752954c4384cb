import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { init } from 'listwatch'
import { useListWatch } from 'listwatch/react'

const mode = new URLSearchParams(location.search).get('mode')
if (mode) globalThis.started = init({ mode })

function Maps() {
  const maps = useListWatch({ server: '/k8s', resource: 'configmaps', indexes: { on: 'data.on' } })
  const on = maps.by('on', 'yes').map(({ object }) => object.metadata.name)
  const text = `${maps.state.phase} ${on.join(' ')} of ${maps.size}`
  renders.push(text)
  return h('p', { id: 'maps' }, text)
}

const renders = globalThis.renders = [] // the texts of all renders
const root = createRoot(document.getElementById('root'))
globalThis.show = (component) => root.render(component ? h(Maps) : null)
globalThis.show(true)
