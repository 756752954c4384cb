// A React application that uses the package like its users do. The tests start Vite with it and read its text.
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { init } from 'listwatch'
import { useListWatch } from 'listwatch/react'

const params = new URLSearchParams(location.search), mode = params.get('mode')
if (mode) globalThis.started = init({ mode }) // without a mode, the first collection initializes the package

function Maps() {
  const maps = useListWatch({ server: '/k8s', resource: 'configmaps', indexes: { on: 'data.on' } })
  const on = maps.by('on', 'yes').map(({ object }) => object.metadata.name)
  const text = `${maps.state.phase} ${on.join(' ')} of ${maps.size}`
  renders.push(text)
  return h('p', { id: 'maps' }, text)
}

// One of several watches that need more connections than a browser has.
function Watch({ n }) {
  const { state, size } = useListWatch({ server: '/k8s', resource: 'configmaps', labelSelector: `n!=${n}` })
  return h('li', null, `${state.phase} ${state.cause?.code ?? ''} ${size}`)
}
const watches = Array.from({ length: params.get('watches') ?? 0 }, (_, n) => h(Watch, { key: n, n }))

const renders = globalThis.renders = [] // the texts of all renders
const root = createRoot(document.getElementById('root'))
globalThis.show = (component) => root.render(component ? [h(Maps, { key: 'maps' }), ...watches] : null)
globalThis.show(true)
