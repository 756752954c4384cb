package catalog_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// pipes is a network in memory, so that tests can use simulated time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.done); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func start(t *testing.T, opts *catalog.Options) (*lwtest.Server, *catalog.Catalog) {
	network := &pipes{make(chan net.Conn), make(chan struct{})}
	server, err := lwtest.Start(&lwtest.Options{Listener: network})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{DialContext: network.dial}}
	t.Cleanup(client.CloseIdleConnections)
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{Client: client})
	require.NoError(t, err)
	return server, catalog.New(transport, opts)
}

func TestDeletedTypeReturnsInAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c := start(t, nil)
		ctx, stop := context.WithCancel(t.Context())
		widgets := lwtest.Resource{Group: "example.com", Version: "v1", Kind: "Gadget", Plural: "gadgets", Namespaced: true}
		server.AddResource(widgets)
		server.Put("gadgets.example.com", map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "a"}})
		changes := make(chan string, 1000)
		done := make(chan struct{}, 2)
		go func() {
			for change := range c.Changes(ctx, nil) {
				object := change.New
				if object == nil {
					object = change.Old
				}
				if object == nil {
					changes <- fmt.Sprint(change.Resource, " ", change.Type)
				} else {
					changes <- fmt.Sprint(change.Resource, " ", change.Type, " ", object.Key(), " ", object.APIVersion(), " ", change.Initial)
				}
			}
			done <- struct{}{}
		}()
		go func() { c.Run(ctx); done <- struct{}{} }()
		require.NoError(t, c.WaitSynced(ctx))
		print := func() {
			synctest.Wait()
			for len(changes) > 0 {
				t.Log(<-changes)
			}
			for _, s := range c.Statuses() {
				t.Log(s.Type, s.Version, s.State, s.Cause, s.Objects, s.Bytes, s.ResourceVersion)
			}
		}
		print()
		server.RemoveResource("gadgets.example.com")
		time.Sleep(20 * time.Second)
		print()
		widgets.Version = "v2"
		server.AddResource(widgets)
		server.Put("gadgets.example.com", map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "b"}})
		time.Sleep(20 * time.Second)
		print()
		widgets.Version = "v3"
		server.AddResource(widgets)
		time.Sleep(20 * time.Second)
		print()
		stop()
		<-done
		<-done
	})
	_ = lw.Key{}
}
