package lw

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The other tests in this package use these constants as their bounds, so only this test notices if a constant changes.
// Users rely on most of them: see docs/reconnect.md and docs/guarantees.md.
func TestLimitsHaveTheDocumentedValues(t *testing.T) {
	for name, c := range map[string]struct{ documented, used any }{
		"first delay of the backoff":                      {800 * time.Millisecond, firstDelay},
		"Retry-After responses without backoff":           {10, maxHonored},
		"time per request":                                {time.Second, requestEvery},
		"requests in a burst":                             {10, requestBurst},
		"window of the list limit":                        {time.Minute, listWindow},
		"lists in the window":                             {4, maxLists},
		"healthy watch":                                   {time.Second, healthyAfter},
		"watch that resets the backoff":                   {2 * time.Minute, provenAfter},
		"faults that cause a relist":                      {2, maxSuspect},
		"failed streaming lists":                          {2, maxStreamFaults},
		"timeout of a watch without bookmarks":            {time.Minute, shortTimeout},
		"timeout of a watch with bookmarks":               {5 * time.Minute, longTimeout},
		"idle timeout of a list":                          {90 * time.Second, idleRequest},
		"idle timeout after the timeout of a watch":       {5 * time.Second, idleGrace},
		"streaming list without an initial object":        {time.Minute, stalledStream},
		"interval of idle checks":                         {5 * time.Second, maxInterval},
		"interval between log entries with the same text": {time.Minute, logEvery},
		"remembered log entries":                          {16, maxLogged},
		"error response, in bytes":                        {64 << 10, maxErrorBody},
		"largest frame, in bytes":                         {1 << 30, maxFrameLimit},
		"offsets of an object":                            {4096, maxCuts},
	} {
		require.Equal(t, c.documented, c.used, name)
	}
}
