package hostile

import (
	"testing"

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
