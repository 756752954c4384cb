'use client' // hooks work only in client components
import { useListWatch } from 'listwatch/react'

export default function Page() {
  const pods = useListWatch({ server: '/k8s', resource: 'pods' })
  const rows = pods.list().map(({ key }) => <li key={key}>{key}</li>)
  return <main>{pods.size} Pods, {pods.state.phase} {pods.state.cause?.message}<ul>{rows}</ul></main>
}
