// tsc checks this file, which is never run. It compares the hooks with the types of OpenShift's plugin SDK.
import type { K8sResourceCommon, UseK8sWatchResource, UseK8sWatchResources, WatchK8sResource as SDKResource } from '@openshift-console/dynamic-plugin-sdk/lib/extensions/console-types'
import { createWatchHooks, useK8sWatchResource, useK8sWatchResources, type WatchK8sResource } from 'listwatch/openshift'

export const one: UseK8sWatchResource = useK8sWatchResource
export const several: UseK8sWatchResources = useK8sWatchResources
export const fromSDK = (resource: SDKResource): WatchK8sResource => resource
export const toSDK = (resource: WatchK8sResource): SDKResource => resource
export const custom: { useK8sWatchResource: UseK8sWatchResource } = createWatchHooks({ server: '/k8s', plurals: { 'example.com~Sheep': 'sheep' } })
// @ts-expect-error there is no such option
createWatchHooks({ resource: 'pods' })

export function useNames() {
  const [pods] = useK8sWatchResource<K8sResourceCommon[]>({ kind: 'Pod', isList: true })
  return pods.map(({ metadata }) => metadata?.name)
}
