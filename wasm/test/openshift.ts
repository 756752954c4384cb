// tsc --strict checks this file, which is never run. It compares the hooks with a copy of the declarations of
// @openshift-console/dynamic-plugin-sdk 4.22.
import { createWatchHooks, useK8sWatchResource, useK8sWatchResources } from 'listwatch/openshift'
import type { WatchK8sResource } from 'listwatch/openshift'

type K8sResourceCommon = {
  apiVersion?: string, kind?: string,
  metadata?: { annotations?: { [key: string]: string }, labels?: { [key: string]: string }, name?: string, namespace?: string, uid?: string, resourceVersion?: string, creationTimestamp?: string, [key: string]: any },
  spec?: { [key: string]: any }, status?: { [key: string]: any },
}
type SdkWatchK8sResource = {
  kind?: string, groupVersionKind?: { group?: string, version: string, kind: string }, name?: string, namespace?: string, isList?: boolean,
  selector?: { matchLabels?: { [key: string]: string }, matchExpressions?: { key: string, operator: string, values?: string[] }[] },
  namespaced?: boolean, limit?: number, fieldSelector?: string, optional?: boolean, partialMetadata?: boolean,
}
type ResourcesObject = { [key: string]: K8sResourceCommon | K8sResourceCommon[] }
type UseK8sWatchResource = <R extends K8sResourceCommon | K8sResourceCommon[]>(initResource: SdkWatchK8sResource | null) => [R, boolean, any]
type UseK8sWatchResources = <R extends ResourcesObject>(initResources: { [k in keyof R]: SdkWatchK8sResource }) =>
  { [k in keyof R]: { data: R[k], loaded: boolean, loadError: any } }

export const one: UseK8sWatchResource = useK8sWatchResource
export const several: UseK8sWatchResources = useK8sWatchResources
export const resource: SdkWatchK8sResource = {} satisfies WatchK8sResource as WatchK8sResource
export const same: WatchK8sResource = {} as SdkWatchK8sResource
export const other: { useK8sWatchResource: UseK8sWatchResource } = createWatchHooks({ server: '/k8s', plurals: { 'example.com~Sheep': 'sheep' } })
// @ts-expect-error there is no such option
createWatchHooks({ resource: 'pods' })
