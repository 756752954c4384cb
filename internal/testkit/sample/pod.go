// Package sample generates Kubernetes objects for tests and benchmarks. Its Pods have about 6 kB of JSON each and
// resemble those of a busy cluster. The same seed always generates the same Pods.
package sample

import (
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
)

// Pod contains the values that differ from Pod to Pod.
type Pod struct {
	Namespace, Name, UID, App, Node, Phase string
	ResourceVersion                        uint64
	hash, ip                               string
	details                                *details // if nil, members calls plain instead
}

// Pods returns n different Pods, which share most of their JSON. See [Templated] for more variety.
func Pods(seed uint64, n int) []Pod {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	pods := make([]Pod, n)
	for i := range pods {
		app := "app-" + strconv.Itoa(g.IntN(200))
		hash := g.hex(10)
		pods[i] = Pod{
			Namespace: "team-" + strconv.Itoa(g.IntN(40)), Name: app + "-" + hash + "-" + strconv.Itoa(i), App: app,
			UID:             g.uid(),
			Node:            "node-" + strconv.Itoa(g.IntN(500)),
			Phase:           []string{"Pending", "Running", "Running", "Running", "Succeeded"}[g.IntN(5)],
			ResourceVersion: 1_000_000 + uint64(i),
			hash:            hash, ip: "10." + strconv.Itoa(g.IntN(256)) + "." + strconv.Itoa(g.IntN(256)) + ".7",
		}
	}
	return pods
}

// JSON returns the Pod as compact JSON that starts with kind and apiVersion, like an object in a watch event.
func (p Pod) JSON() string { return `{"kind":"Pod","apiVersion":"v1",` + p.members() + `}` }

// Item returns the Pod as JSON without kind and apiVersion, like a list item.
func (p Pod) Item() string { return `{` + p.members() + `}` }

// Event returns a watch event for the Pod as a line of JSON. kind is the event's type.
func (p Pod) Event(kind string) string { return `{"type":"` + kind + `","object":` + p.JSON() + "}\n" }

func (p Pod) members() string {
	d := p.details
	if d == nil {
		d = p.plain()
	}
	return `"metadata":` + p.metadata(d) + `,"spec":` + p.spec(d) + `,"status":` + p.status(d)
}

func (p Pod) metadata(d *details) string {
	return `{"name":"` + p.Name + `","generateName":"` + p.App + `-` + p.hash + `-","namespace":"` + p.Namespace +
		`","uid":"` + p.UID + `","resourceVersion":"` + strconv.FormatUint(p.ResourceVersion, 10) +
		`","generation":1,"creationTimestamp":"` + d.created +
		`","labels":{"app":"` + p.App + `","app.kubernetes.io/name":"` + p.App + `","app.kubernetes.io/instance":"` + p.App +
		`-prod","app.kubernetes.io/version":"1.27.3","app.kubernetes.io/managed-by":"Helm","pod-template-hash":"` + p.hash +
		`","topology.kubernetes.io/zone":"eu-west-1b"},"annotations":{"checksum/config":"` + d.checksum +
		`","kubectl.kubernetes.io/restartedAt":"2026-02-27T08:15:30Z","prometheus.io/port":"9090","prometheus.io/scrape":"true"` +
		`,"note":` + d.note + `},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"` +
		p.App + `-` + p.hash + `","uid":"` + d.owner + `","controller":true,"blockOwnerDeletion":true}],"managedFields":[` +
		managedBy("kube-controller-manager", `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:kubectl.kubernetes.io/restartedAt":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/version":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"`+p.UID+`\"}":{}}},"f:spec":{"f:affinity":{},"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"GOMEMLIMIT\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"POD_IP\"}":{".":{},"f:name":{},"f:valueFrom":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{}}}`, "") + `,` +
		managedBy("kubelet", `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"`+p.ip+`\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`, `,"subresource":"status"`) + `]}`
}

func managedBy(manager, fields, more string) string {
	return `{"manager":"` + manager + `","operation":"Update","apiVersion":"v1","time":"2026-03-01T12:00:03Z","fieldsType":"FieldsV1","fieldsV1":` + fields + more + `}`
}

func (p Pod) spec(d *details) string {
	const mount = `{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}`
	return `{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}},{"name":"config","configMap":{"name":"` + p.App + `-config","defaultMode":420}}],"containers":[{"name":"main","image":"registry.example.com/team/` + p.App + `:1.27.3@sha256:` + d.digest + `","args":[` + d.args + `],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[` + d.env + `,{"name":"POD_IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}}],"resources":` + d.resources + `,"volumeMounts":[{"name":"config","mountPath":"/etc/app"},` + mount + `],"livenessProbe":` + d.probe + `,"readinessProbe":` + d.probe + `,"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"allowPrivilegeEscalation":false}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"` + p.App + `","serviceAccount":"` + p.App + `","nodeName":"` + p.Node + `","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"}`
}

func (p Pod) status(d *details) string {
	condition := func(name string) string {
		return `{"type":"` + name + `","status":"True","lastProbeTime":null,"lastTransitionTime":"` + d.ready + `"}`
	}
	return `{"phase":"` + p.Phase + `","conditions":[` + condition("PodReadyToStartContainers") + `,` + condition("Initialized") + `,` +
		condition("Ready") + `,` + condition("ContainersReady") + `,` + condition("PodScheduled") + `],"hostIP":"` + d.host + `","hostIPs":[{"ip":"` + d.host + `"}],"podIP":"` + p.ip + `","podIPs":[{"ip":"` + p.ip + `"}],"startTime":"` + d.created + `","containerStatuses":[{"name":"main","state":{"running":{"startedAt":"` + d.started + `"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.example.com/team/` + p.App + `:1.27.3","imageID":"registry.example.com/team/` + p.App + `@sha256:` + d.digest + `","containerID":"containerd://` + d.container + `","started":true,"volumeMounts":[{"name":"config","mountPath":"/etc/app"}]}],"qosClass":"Burstable"}`
}

// Events returns n MODIFIED watch events for different Pods. The same seed always returns the same events.
func Events(seed uint64, n int) []byte {
	var text []byte
	for _, pod := range Pods(seed, n) {
		text = append(text, pod.Event("MODIFIED")...)
	}
	return text
}

// Loop returns a reader that repeats text forever. text must not be empty.
func Loop(text []byte) io.Reader { return &memory.Endless{Then: string(text), Most: math.MaxInt64} }
