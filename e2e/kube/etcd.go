package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
)

const etcdLog = "etcd.log"

// Etcd is an etcd server. Start and Kill must not be called concurrently.
type Etcd struct {
	// URL is the address for clients, for example http://127.0.0.1:20001. Clients can use gRPC or JSON. The URL stays
	// the same after a restart.
	URL string

	binaries string // folder that contains the program kube
	folder   string // folder for etcd's data and log
	peerURL  string
	process  *process
}

// StartEtcd starts etcd without Kubernetes for one test and kills it when the test ends. If the test fails, StartEtcd
// logs the end of etcd's log. If the binaries do not exist, it skips or fails the test like [Binaries].
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	binaries := Binaries(t)
	var e *Etcd
	err := onFreePorts(2, func(ports []int) error {
		// Each attempt needs a new folder, because etcd stores its ports with its data.
		e = newEtcd(binaries, t.TempDir(), ports[0], ports[1])
		t.Cleanup(e.Kill)
		return e.Start(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of etcd's log:\n%s", tail(filepath.Join(e.folder, etcdLog)))
		}
	})
	return e
}

func newEtcd(binaries, folder string, clientPort, peerPort int) *Etcd {
	return &Etcd{
		URL:      fmt.Sprintf("http://127.0.0.1:%d", clientPort),
		peerURL:  fmt.Sprintf("http://127.0.0.1:%d", peerPort),
		binaries: binaries,
		folder:   folder,
	}
}

// Start starts etcd, or restarts it after Kill, and blocks until etcd is ready. It returns an error if another process
// has taken one of etcd's ports.
func (e *Etcd) Start(ctx context.Context) error {
	p, err := startProcess(e.binaries, filepath.Join(e.folder, etcdLog), "etcd", "--data-dir="+filepath.Join(e.folder, "etcd"),
		"--listen-client-urls="+e.URL, "--advertise-client-urls="+e.URL, "--listen-peer-urls="+e.peerURL)
	if err != nil {
		return err
	}
	e.process = p
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx, stop := p.whileRunning(ctx)
	defer stop()
	return Poll(ctx, "etcd to be ready", func(ctx context.Context) error {
		_, err := e.post(ctx, "range", map[string]any{"key": []byte(compactRevKey)})
		return err
	})
}

// Kill sends SIGKILL to etcd and waits until the process has exited.
func (e *Etcd) Kill() {
	if e.process != nil {
		e.process.kill()
	}
}

// compactRevKey is the key under which API servers store the revision of the latest compaction. Every API server
// watches this key. When the key changes, the API server drops its snapshots of older revisions. Compact writes the
// key, because the snapshots would otherwise remain.
const compactRevKey = "compact_rev_key"

// Compact removes etcd's history before the current revision and makes every earlier revision unusable for reads and
// watches.
//
// A watch from revision N needs the history from N+1 on. A compaction at the current revision would therefore not
// expire the previous revision. So Compact first makes two writes, which increment the revision by two.
func (e *Etcd) Compact(ctx context.Context) error {
	// This key is outside the API server's prefix, so writing it changes no object.
	revision, err := e.post(ctx, "put", map[string]any{"key": []byte("listwatch/mark")})
	if err != nil {
		return err
	}
	target := strconv.FormatInt(revision+1, 10)
	if _, err := e.post(ctx, "put", map[string]any{"key": []byte(compactRevKey), "value": []byte(target)}); err != nil {
		return err
	}
	// A physical compaction returns only after the history is removed.
	_, err = e.post(ctx, "compaction", map[string]any{"revision": target, "physical": true})
	return err
}

// post calls a method of etcd's key-value API and returns the current revision. In the JSON form of this API, keys and
// values are base64, which json.Marshal writes for a []byte, and 64-bit integers are strings.
func (e *Etcd) post(ctx context.Context, method string, params map[string]any) (revision int64, err error) {
	url := e.URL + "/v3/kv/" + method
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(must(json.Marshal(params))))
	if err != nil {
		return 0, err
	}
	req.Close = true // a kept connection would be broken if etcd is killed before the next request
	code, body, err := send(http.DefaultClient, req)
	if err == nil && code != http.StatusOK {
		err = statusError(http.MethodPost, url, code, body)
	}
	if err != nil {
		return 0, err
	}
	var result struct {
		Header struct {
			Revision int64 `json:",string"`
		}
	}
	err = json.Unmarshal(body, &result)
	return result.Header.Revision, err
}
