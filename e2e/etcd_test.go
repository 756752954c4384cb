package e2e

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/examples/etcd"
	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	etcdPrefix  = "/app/"
	etcdTimeout = 2 * time.Minute
)

// etcdCourse runs an informer for etcd keys. It compares the informer's store with etcd after each write.
type etcdCourse struct {
	*testing.T
	server   *kube.Etcd
	informer *cache.Informer[*etcd.Entry]
	events   []lw.Event[*etcd.Entry] // events received during the latest call of run() or until()
	changes  []cache.Change[*etcd.Entry]
}

func TestEtcd(t *testing.T) {
	t.Parallel() // this test uses a separate etcd and mostly waits
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	server := kube.StartEtcd(t)
	keys := &etcd.Keys{URL: server.URL, Prefix: etcdPrefix, Client: http.Client{Transport: client}}
	c := &etcdCourse{T: t, server: server, informer: cache.NewInformer(keys, &lw.Options{PageSize: 3})}
	// The keys /app and /app0 are next to the prefix in the order of keys, but do not belong to it.
	c.write("/app", "no", "/app/a", "1", "/app/b", "1", "/app/c", "1", "/app/d", "1", "/app/e", "1", "/app/f", "1", "/app/g", "1", "/app0", "no")

	t.Log("phase 1: a paged list, single writes, a transaction, and progress notifications while only other keys change")
	c.run(func() {
		c.sees(c.write("/app/a", "2"))
		c.sees(c.write("/app/b", ""))
		c.sees(c.write("/app/a", "3", "/app/h", "1", "/app/c", "", "/elsewhere", "x"))
		c.sees(c.write("/elsewhere", "y"))
	})
	require.Equal(t, []lw.EventType{lw.ListStarted, lw.Added, lw.Added, lw.Added}, types(c.events)[:4])
	require.NotContains(t, types(c.events), lw.Interrupted)
	require.Equal(t, lw.Bookmark, c.events[len(c.events)-1].Type)
	last := c.changes[len(c.changes)-1]
	require.Equal(t, lw.Deleted, last.Type)
	require.Equal(t, "1", string(last.Old.Value), "a deletion must contain the last value of the key")

	t.Log("phase 2: the informer stops in the middle of a transaction")
	before := c.informer.Store().ResourceVersion()
	revision := c.write("/app/a", "4", "/app/d", "4", "/app/e", "", "/app/f", "4", "/app/i", "4")
	c.until(func(event lw.Event[*etcd.Entry]) bool { return event.Object != nil })
	require.Equal(t, before, c.informer.Store().ResourceVersion())
	c.run(func() { c.sees(revision) })
	require.NotContains(t, types(c.events), lw.ListStarted)

	t.Log("phase 3: etcd is compacted while no watch is open")
	c.write("/app/a", "5", "/app/d", "")
	require.NoError(t, server.Compact(t.Context()))
	c.run(func() { c.sees(c.write("/app/j", "5")) })
	// Before the watch, a check finds a newer object. The watch therefore counts as started only after it has delivered
	// that object.
	require.NotNil(t, c.events[0].Interruption, "%v", types(c.events))
	require.ErrorIs(t, c.events[0].Interruption.Err, lw.ErrExpired)
	require.True(t, c.events[0].Interruption.Relist)
	require.Equal(t, lw.ListStarted, c.events[1].Type)

	t.Log("phase 4: etcd restarts, and keys change before the new watch opens")
	c.run(func() {
		c.sees(c.write("/app/a", "6"))
		server.Kill()
		require.NoError(t, server.Start(t.Context()))
		c.sees(c.write("/app/a", "7", "/app/h", "", "/app/k", "7"))
		c.sees(c.write("/app/a", "8"))
	})
	require.Contains(t, types(c.events), lw.Interrupted)
	require.NotContains(t, types(c.events), lw.ListStarted, "the watch must resume without a relist")
}

func types(events []lw.Event[*etcd.Entry]) (all []lw.EventType) {
	for _, event := range events {
		all = append(all, event.Type)
	}
	return all
}

// write writes alternating keys and values in one transaction and returns the transaction's revision. An empty value
// deletes the key.
func (c *etcdCourse) write(pairs ...string) string {
	c.Helper()
	var ops []clientv3.Op
	for i := 0; i < len(pairs); i += 2 {
		op := clientv3.OpPut(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			op = clientv3.OpDelete(pairs[i])
		}
		ops = append(ops, op)
	}
	var revision string
	c.client(func(ctx context.Context, client *clientv3.Client) {
		done, err := client.Txn(ctx).Then(ops...).Commit()
		require.NoError(c, err)
		revision = strconv.FormatInt(done.Header.Revision, 10)
	})
	return revision
}

func (c *etcdCourse) client(use func(context.Context, *clientv3.Client)) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), etcdTimeout)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.server.URL}, Context: ctx})
	require.NoError(c, err)
	defer client.Close()
	use(ctx, client)
}

// sees waits until the store has reached revision. It then requires the store and etcd to contain the same entries.
func (c *etcdCourse) sees(revision string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), etcdTimeout)
	defer cancel()
	require.NoError(c, c.informer.Store().WaitFor(ctx, revision))
	want, got := map[string]string{}, map[string]string{}
	c.client(func(ctx context.Context, client *clientv3.Client) {
		all, err := client.Get(ctx, etcdPrefix, clientv3.WithPrefix())
		require.NoError(c, err)
		for _, kv := range all.Kvs {
			want[string(kv.Key)] = string(kv.Value) + "@" + strconv.FormatInt(kv.ModRevision, 10)
		}
	})
	for _, entry := range c.informer.Store().List() {
		got[entry.GetName()] = string(entry.Value) + "@" + entry.Revision
	}
	require.Equal(c, want, got)
}

// run calls do() while the informer runs. It then stops the informer.
func (c *etcdCourse) run(do func()) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.follow(ctx, func(lw.Event[*etcd.Entry]) bool { return false })
	}()
	defer func() { cancel(); <-done }()
	do()
}

// until runs the informer until the function "enough" returns true for an event.
func (c *etcdCourse) until(enough func(lw.Event[*etcd.Entry]) bool) {
	ctx, cancel := context.WithTimeout(c.Context(), etcdTimeout)
	defer cancel()
	c.follow(ctx, enough)
	require.NoError(c, ctx.Err())
}

func (c *etcdCourse) follow(ctx context.Context, enough func(lw.Event[*etcd.Entry]) bool) {
	c.events = nil
	for event, changes := range c.informer.Follow(ctx) {
		c.events, c.changes = append(c.events, event), append(c.changes, changes...)
		if enough(event) {
			return
		}
	}
}
