//go:build js

package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// answer is a fake transport that returns the same response to every request.
type answer string

func (a answer) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// late is a proxy that keeps the response to a watch until the first event, which never comes. With prompt, the response
// begins at once.
type late struct {
	answer
	prompt bool
}

func (l late) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if !req.Watch {
		return l.answer.Open(ctx, req)
	}
	if l.prompt {
		body, events := io.Pipe()
		context.AfterFunc(ctx, func() { _ = events.CloseWithError(ctx.Err()) })
		return &lw.Response{ReadCloser: body}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestLateWatchIsReported(t *testing.T) {
	for _, example := range []struct{ turns, prompt, warns bool }{{warns: true}, {turns: true}, {prompt: true}} {
		synctest.Test(t, func(t *testing.T) {
			command, err := lw.ParseValue([]byte(`{"endpoint":{"server":"http://host"},"version":"v1","plural":"pods"}`))
			require.NoError(t, err)
			c := &collection{command: command, out: newOutbox(), turns: example.turns}
			c.ctx, c.cancel = context.WithCancelCause(t.Context())
			go c.run(late{answer: `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[]}`, prompt: example.prompt})
			time.Sleep(lateAfter - time.Millisecond)
			require.NotContains(t, string(c.batch), "no response")
			time.Sleep(2 * time.Millisecond)
			const text = "listwatch: no response to a watch for 10 s, url: http://host/api/v1/pods: if a proxy"
			require.Equal(t, example.warns, strings.Contains(string(c.batch), text), "%q", c.batch)
			c.cancel(errStopped)
			synctest.Wait()
		})
	}
}

func TestRowsKeepTextUntilSent(t *testing.T) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[` +
		`{"metadata":{"name":"a","uid":"1","resourceVersion":"1"},"spec":{"nodeName":"north"}},` +
		`{"metadata":{"name":"b","uid":"2","resourceVersion":"2"},"spec":{"nodeName":"south"}}]}`
	c := &collection{out: newOutbox(), rows: &rowPool{}, indexes: []string{"spec.nodeName"}}
	client, err := lw.NewClient(answer(list), lw.Resource{Version: "v1", Plural: "pods"}, c.rows, nil)
	require.NoError(t, err)
	var decoded []*row
	for r, err := range client.List(t.Context(), lw.ListOptions{}).Objects {
		require.NoError(t, err)
		decoded = append(decoded, r)
	}
	require.Len(t, decoded, 2)

	record := func(change cache.Change[*row]) string {
		c.batch = nil
		c.sendChange(&change, "3")
		return string(c.batch)
	}
	for i, node := range []string{"north", "south"} {
		sent := record(cache.Change[*row]{Type: lw.Added, New: decoded[i]})
		require.Equal(t, 2, strings.Count(sent, node), "the row of %s must contain the node's name twice, in the index and in the JSON, but the row is %q", decoded[i].name, sent)
	}
	require.Empty(t, record(cache.Change[*row]{Type: lw.Modified, Old: decoded[0], New: decoded[0]}), "an object that the host already has must not be sent again")
	require.NotNil(t, c.rows.spare, "the buffer must be kept for the next object")
}
