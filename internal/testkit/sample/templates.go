package sample

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// details contains values in which [Templated] Pods differ.
type details struct {
	checksum, note, owner, digest, args, env, resources, probe string // one value per template
	created, started, ready, host, container                   string // one value per Pod
}

// plain returns the details for a Pod from [Pods]. These details are constants or derive from other fields.
func (p Pod) plain() *details {
	return &details{
		checksum: p.hash + p.hash + p.hash, note: `"quoted \"text\" and a path C:\\temp"`, owner: p.UID,
		digest: p.hash + p.hash + p.hash, container: p.hash + p.hash + p.hash,
		args:      `"--listen=:8080","--log-format=json","--upstream=http://backend.` + p.Namespace + `.svc:8080"`,
		env:       `{"name":"GOMEMLIMIT","value":"450MiB"}`,
		resources: `{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"100m","memory":"256Mi"}}`,
		probe:     `{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}`,
		created:   "2026-03-01T12:00:00Z", started: "2026-03-01T12:00:02Z", ready: "2026-03-01T12:00:03Z", host: "192.168.17.4",
	}
}

type template struct {
	namespace, app, hash string
	details              details
}

// Templated returns n different Pods, generated from the given number of templates. Templates differ in names,
// images, arguments, environment, resources and probes. Pods from the same template differ in times, addresses and
// container IDs. Use Templated if results depend on how much content the objects share.
func Templated(seed uint64, n, templates int) []Pod {
	source := NewSource(seed, templates)
	pods := make([]Pod, n)
	for i := range pods {
		pods[i] = source.Pod(i)
	}
	return pods
}

// Source generates the same Pods as [Templated] one at a time, for collections that do not fit in memory. It is
// safe for concurrent use.
type Source struct {
	seed uint64
	made []template
}

// NewSource returns a Source with the given number of templates.
func NewSource(seed uint64, templates int) *Source {
	g := generator{rand.New(rand.NewPCG(seed, 2))}
	s := &Source{seed: seed, made: make([]template, templates)}
	for i := range s.made {
		s.made[i] = g.template(i)
	}
	return s
}

// Pod returns the i-th Pod. The same i always returns the same Pod, because each Pod has its own random numbers. [Pods]
// and [NewSource] use the second seeds 1 and 2.
func (s *Source) Pod(i int) Pod {
	g := generator{rand.New(rand.NewPCG(s.seed, 3+uint64(i)))}
	return g.pod(i, &s.made[g.IntN(len(s.made))])
}

type generator struct{ *rand.Rand }

func (g generator) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[g.IntN(16)]
	}
	return string(b)
}

func (g generator) uid() string {
	return g.hex(8) + "-" + g.hex(4) + "-4" + g.hex(3) + "-8" + g.hex(3) + "-" + g.hex(12)
}

func (g generator) number(min, max int) string { return strconv.Itoa(min + g.IntN(max-min)) }

var words = []string{"account", "audit", "batch", "billing", "cache", "cart", "catalog", "chat", "cluster", "config",
	"connection", "consumer", "content", "customer", "delivery", "discount", "email", "event", "export", "feature",
	"gateway", "image", "index", "ingest", "inventory", "invoice", "ledger", "login", "metrics", "order", "partner",
	"payment", "pricing", "profile", "queue", "rating", "report", "retry", "search", "session", "shipping", "stock",
	"stream", "tenant", "ticket", "token", "user", "voucher", "warehouse", "worker"}

func (g generator) word() string { return words[g.IntN(len(words))] }

// value returns a random value for a setting: an address, a duration, a number, a key or a name.
func (g generator) value() string {
	switch g.IntN(5) {
	case 0:
		return "http://" + g.word() + "-" + g.word() + "." + g.word() + ".svc:" + g.number(1024, 10000)
	case 1:
		return g.number(1, 600) + "s"
	case 2:
		return g.number(1, 100000)
	case 3:
		return g.hex(24)
	}
	return g.word() + "-" + g.word()
}

func (g generator) template(i int) template {
	t := template{namespace: "team-" + g.number(0, 40), app: g.word() + "-" + g.word() + "-" + strconv.Itoa(i), hash: g.hex(10)}
	d := &t.details
	d.checksum, d.owner, d.digest = g.hex(64), g.uid(), g.hex(64)
	d.note = `"` + g.word() + " " + g.word() + " of " + g.word() + ", asked for in " + g.number(1000, 9999) + `"`
	d.args = `"--listen=:8080"`
	for range 2 + g.IntN(4) {
		d.args += `,"--` + g.word() + "-" + g.word() + "=" + g.value() + `"`
	}
	for range 3 + g.IntN(6) {
		d.env += `,{"name":"` + strings.ToUpper(g.word()+"_"+g.word()) + `","value":"` + g.value() + `"}`
	}
	d.env = d.env[1:] // without the first comma
	d.resources = `{"limits":{"cpu":"` + g.number(5, 40) + `00m","memory":"` + g.number(128, 4096) + `Mi"},"requests":{"cpu":"` +
		g.number(10, 400) + `m","memory":"` + g.number(32, 1024) + `Mi"}}`
	d.probe = `{"httpGet":{"path":"/` + g.word() + `","port":8080,"scheme":"HTTP"},"timeoutSeconds":` + g.number(1, 10) +
		`,"periodSeconds":` + g.number(5, 60) + `,"successThreshold":1,"failureThreshold":` + g.number(2, 10) + `}`
	return t
}

func (g generator) pod(i int, t *template) Pod {
	d := t.details
	created := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(g.IntN(30*24*3600)) * time.Second)
	started := created.Add(time.Duration(1+g.IntN(60)) * time.Second)
	d.created, d.started = created.Format(time.RFC3339), started.Format(time.RFC3339)
	d.ready = started.Add(time.Duration(1+g.IntN(60)) * time.Second).Format(time.RFC3339)
	d.host, d.container = "192.168."+g.number(0, 4)+"."+g.number(1, 255), g.hex(64)
	return Pod{
		Namespace: t.namespace, App: t.app, hash: t.hash, Name: t.app + "-" + t.hash + "-" + g.hex(2) + strconv.FormatInt(int64(i), 36), UID: g.uid(),
		Node: "node-" + g.number(0, 500), Phase: []string{"Pending", "Running", "Running", "Running", "Succeeded"}[g.IntN(5)],
		ResourceVersion: 1_000_000 + uint64(g.IntN(1_000_000_000)), ip: "10." + g.number(0, 256) + "." + g.number(0, 256) + "." + g.number(1, 255),
		details: &d,
	}
}
