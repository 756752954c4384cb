// Package sample generates Kubernetes objects for tests and benchmarks. Its Pods have about 6 kB of JSON each and
// resemble those of a busy cluster. The same seed always generates the same Pods.
package sample

import (
	_ "embed"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
)

// Pod contains those values of a Pod that differ from other Pods. The rest of the JSON comes from pod.txt.
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

//go:embed pod.txt
var lines string

// parts contains the members of a Pod's JSON, split before each placeholder. A placeholder such as ${name} stands for a
// value in which Pods differ. pod.txt has line breaks and indentation only for readers.
var parts = strings.Split(regexp.MustCompile(`\s*\n\s*`).ReplaceAllString(lines, ""), "${")

func (p Pod) members() string {
	d := p.details
	if d == nil {
		d = p.plain()
	}
	values := map[string]string{
		"namespace": p.Namespace, "name": p.Name, "uid": p.UID, "app": p.App, "node": p.Node, "phase": p.Phase,
		"resourceVersion": strconv.FormatUint(p.ResourceVersion, 10), "hash": p.hash, "ip": p.ip,
		"checksum": d.checksum, "note": d.note, "owner": d.owner, "digest": d.digest, "args": d.args, "env": d.env,
		"resources": d.resources, "probe": d.probe, "created": d.created, "started": d.started, "ready": d.ready,
		"host": d.host, "container": d.container,
	}
	var text strings.Builder
	text.Grow(2 * len(lines))
	text.WriteString(parts[0])
	for _, part := range parts[1:] { // os.Expand would take too long for the benchmarks' server
		name, rest, _ := strings.Cut(part, "}")
		text.WriteString(values[name])
		text.WriteString(rest)
	}
	return text.String()
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
