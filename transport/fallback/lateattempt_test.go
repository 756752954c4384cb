package fallback

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// late is a fake transport that responds after a delay, even if the context of the request is done.
type late struct {
	after time.Duration
	text  string
	asked int
	ended error // error of the request's context at the time of the response
	open  int   // number of open bodies
}

func (l *late) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	l.asked++
	time.Sleep(l.after)
	l.ended = ctx.Err()
	l.open++
	return &lw.Response{ReadCloser: &lateBody{strings.NewReader(l.text), l}}, nil
}

type lateBody struct {
	io.Reader
	of *late
}

func (b *lateBody) Close() error {
	b.of.open--
	return nil
}

// If both transports open a watch, the client must cancel the slower attempt and close its body. This must not affect
// the faster attempt or cause another switch.
func TestLateAttemptIsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		first, second late
		winner        string
		switched      error
	}{
		"slow current transport": {late{after: time.Hour, text: "first"}, late{after: time.Second, text: "second"}, "second", lw.ErrSilent},
		"slow other transport":   {late{after: 4 * time.Second, text: "first"}, late{after: time.Hour, text: "second"}, "first", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				winner, loser := &c.first, &c.second
				if c.winner == "second" {
					winner, loser = loser, winner
				}
				var switched []error
				ctx := lw.WithTrace(t.Context(), &lw.Trace{Switched: func(cause error) { switched = append(switched, cause) }})
				over := New(&c.first, &c.second)
				body, err := over.Open(ctx, &lw.Request{Watch: true})
				require.NoError(t, err)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				require.ErrorIs(t, loser.ended, context.Canceled)
				require.NoError(t, winner.ended)
				require.Equal(t, []int{0, 1}, []int{loser.open, winner.open})

				text, err := io.ReadAll(body)
				require.NoError(t, err)
				require.Equal(t, c.winner, string(text))
				require.NoError(t, body.Close())
				require.Zero(t, winner.open)
				require.Equal(t, c.switched != nil, len(switched) == 1)

				winner.after = 0
				text2, _, again := watch(t, over)
				require.Equal(t, c.winner, text2)
				require.NoError(t, again)
				require.Equal(t, []int{1, 2}, []int{loser.asked, winner.asked}, "later watches must use the transport that responded first")
			})
		})
	}
}
