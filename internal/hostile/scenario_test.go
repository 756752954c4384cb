package hostile

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFollowsCorrectServers(t *testing.T) { play(t, correctServers()) }

func TestRecoversFromWrongWatches(t *testing.T) { play(t, wrongWatches()) }

func TestRecoversFromShortWatches(t *testing.T) { play(t, shortWatches()) }

func TestRecoversFromWrongLists(t *testing.T) { play(t, wrongLists()) }

func TestRecoversFromMalformedLists(t *testing.T) { play(t, malformedLists()) }

func TestRecoversFromErrorResponses(t *testing.T) { play(t, hostileErrorResponses()) }

func TestRecoversFromWrongStreamingLists(t *testing.T) { play(t, wrongStreamingLists()) }

func TestRecoversFromUnusualServers(t *testing.T) { play(t, unusualServers()) }

// Users select a scenario by its name, and read why it exists.
func TestEveryScenarioHasNameAndSource(t *testing.T) {
	names := map[string]bool{}
	for _, s := range All() {
		require.Regexp(t, `^[a-z0-9-]+$`, s.Name)
		require.False(t, names[s.Name], "two scenarios have the name %s", s.Name)
		names[s.Name] = true
		require.NotEmpty(t, s.Does, s.Name)
		require.Regexp(t, `^https://`, s.Source, s.Name)
	}
}

// Some clients request no timeout.
func TestWatchWithoutTimeoutStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := All()[0].Start()
		logged := ""
		server.Log = func(r *http.Request) { logged = r.URL.RawQuery }
		began := time.Now()
		response, err := (&http.Client{Transport: server}).Get("http://api.test/api/v1/configmaps?watch=1&resourceVersion=1024")
		require.NoError(t, err)
		require.Equal(t, "watch=1&resourceVersion=1024", logged)
		_, _ = io.Copy(io.Discard, response.Body)
		require.NoError(t, response.Body.Close())
		require.Equal(t, 30*time.Minute, time.Since(began))
	})
}
