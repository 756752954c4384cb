import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { init } from 'listwatch'
import { useListWatch } from 'listwatch/react'

const mode = new URLSearchParams(location.search).get('mode')
if (mode) init({ mode })

function Maps() {
  const maps = useListWatch({ server: '/k8s', resource: 'configmaps', indexes: { on: 'data.on' } })
  const on = maps.by('on', 'yes').map(({ object }) => object.metadata.name)
  return h('p', { id: 'maps' }, `${maps.state.phase} ${on.join(' ')} of ${maps.size}`)
}

createRoot(document.getElementById('root')).render(h(Maps))
