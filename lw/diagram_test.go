//go:build !js

package lw

import (
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// TestStateDiagram compares the diagram in docs/reconnect.md with the transitions of a machine that receives random
// responses and failures. Some transitions are described only in the text below the diagram, so the test adds them
// itself.
func TestStateDiagram(t *testing.T) {
	text, err := os.ReadFile("../docs/reconnect.md")
	require.NoError(t, err)
	drawn := map[string]bool{}
	for _, edge := range regexp.MustCompile(`(?m)^    (\S+) --> (\w+)`).FindAllStringSubmatch(string(text), -1) {
		drawn[edge[1]+" --> "+edge[2]] = true
	}
	require.NotEmpty(t, drawn)
	for edge := range maps.Clone(drawn) {
		if from, ok := strings.CutSuffix(edge, " --> streaming"); ok {
			drawn[from+" --> listing"] = true // if streaming lists are disabled
		}
	}
	for _, name := range []string{"streaming", "listing", "watching", "checking"} {
		drawn[name+" --> "+name] = true // after any other fault
		drawn[name+" --> stopped"] = true
	}
	seen := map[string]bool{}
	for seed := range uint64(3000) {
		walk(seed, seen)
	}
	require.Equal(t, slices.Sorted(maps.Keys(drawn)), slices.Sorted(maps.Keys(seen)))
}

// walk makes random requests with a new machine and adds its transitions to seen. The end of a request is a transition
// even if the state stays the same.
func walk(seed uint64, seen map[string]bool) {
	random := rand.New(rand.NewPCG(seed, 0))
	opts := &Options{NoStreamingList: random.IntN(2) == 0, Random: random.Float64}
	resumeFrom := []string{"", "", "5"}[random.IntN(3)]
	if random.IntN(2) == 0 {
		opts.StopOn = func(error) bool { return random.IntN(20) == 0 }
	}
	m, now := newMachine(opts, resumeFrom, random.IntN(2) == 0, new(support)), time.Second
	seen["[*] --> "+stateNames[m.state]] = true
	m.next(now)
	for range 50 {
		now += time.Duration(random.Int64N(int64(2 * time.Minute)))
		from, part := m.state, randomPart(random, m.state)
		var err error
		switch random.IntN(6) {
		case 0:
			err = randomFault(random)
		case 1:
			if err = ErrWatchClosed; m.state == listing || m.state == checking {
				err = errReset
			}
		default:
			_, err = m.event(now, &part)
		}
		if err != nil {
			m.fail(now, err, 0, false)
		}
		if err != nil || m.state != from {
			seen[stateNames[from]+" --> "+stateNames[m.state]] = true
			m.next(now)
		}
		if m.state == stopped {
			return
		}
	}
}

var stateNames = map[state]string{listing: "listing", streaming: "streaming", watching: "watching", checking: "checking", stopped: "stopped"}

func randomFault(random *rand.Rand) error {
	faults := []error{errReset, ErrSilent, status(410), tooLarge, status(429), status(403), status(404), status(500), &jsonscan.SyntaxError{}}
	return faults[random.IntN(len(faults))]
}

// randomPart returns a part of a response that can arrive in state s.
func randomPart(random *rand.Rand, s state) response {
	part := response{version: "7", objects: 1}
	if random.IntN(4) == 0 {
		part.version = strconv.Itoa(1 + random.IntN(9))
	}
	if s == streaming || s == watching {
		part.event = []EventType{WatchStarted, Modified, Modified, Bookmark, Synced}[random.IntN(5)]
		return part
	}
	part.start = Key{Name: strconv.Itoa(random.IntN(9))}
	part.token = []string{"", "", "next" + part.start.Name}[random.IntN(3)]
	return part
}
