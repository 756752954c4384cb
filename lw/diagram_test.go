//go:build !js

package lw

import (
	"fmt"
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
)

// TestStateDiagram compares the diagram in docs/reconnect.md with the transitions that random signals cause.
func TestStateDiagram(t *testing.T) {
	text, err := os.ReadFile("../docs/reconnect.md")
	require.NoError(t, err)
	drawn := map[string]bool{}
	for _, edge := range regexp.MustCompile(`(?m)^    (\S+) --> (\w+): `).FindAllStringSubmatch(string(text), -1) {
		drawn[edge[1]+" --> "+edge[2]] = true
	}
	require.NotEmpty(t, drawn)
	seen := map[string]bool{}
	for seed := range uint64(3000) {
		walk(seed, seen)
	}
	require.Equal(t, slices.Sorted(maps.Keys(drawn)), slices.Sorted(maps.Keys(seen)))
}

// walk sends random signals to a new machine and adds its transitions to seen.
func walk(seed uint64, seen map[string]bool) {
	random := rand.New(rand.NewPCG(seed, 0))
	opts := &Options{NoStreamingList: random.IntN(2) == 0}
	if random.IntN(3) == 0 {
		opts.ResumeFrom = "5"
		if random.IntN(2) == 0 {
			opts.Verify = func(Keyed) bool { return true }
		}
	}
	if random.IntN(2) == 0 {
		opts.StopOn = func(error) bool { return random.IntN(20) == 0 }
	}
	m, now := newMachine(opts, new(support), random.Float64), time.Second
	seen["[*] --> "+nameOf(m.state)] = true
	for range 50 {
		if m.state == (stopped{}) {
			return
		}
		now += time.Duration(random.Int64N(int64(2 * time.Minute)))
		in := randomInput(random, m.state)
		in.now = now
		from, before := nameOf(m.state), m.state
		m.step(&in)
		repeated := in.signal == failed && m.state == (checking{}) // a repeated check is a transition, although its state is equal
		if m.state != before || repeated {
			seen[from+" --> "+nameOf(m.state)] = true
		}
	}
}

// randomInput returns an input with a random signal that can occur in state s.
func randomInput(random *rand.Rand, s state) input {
	signals := []signal{asking, opened, happened, happened, endMarked, endedClean, failed}
	switch s.(type) {
	case *listing, checking:
		signals = []signal{asking, pageRead, pageRead, failed}
	}
	faults := []error{errReset, ErrSilent, status(410), tooLarge, status(429), status(403), status(404), status(500), &MalformedError{}}
	version := strconv.Itoa(1 + random.IntN(9))
	in := input{signal: signals[random.IntN(len(signals))], version: version, objects: 1, start: Key{Name: version}}
	in.event = []EventType{Modified, Bookmark}[random.IntN(2)]
	in.meta = ListMeta{ResourceVersion: version, Continue: []string{"", "", "next" + version}[random.IntN(3)]}
	in.err = faults[random.IntN(len(faults))]
	if in.version, in.meta.ResourceVersion = "7", "7"; random.IntN(4) == 0 {
		in.version, in.meta.ResourceVersion = version, version
	}
	return in
}

func nameOf(s state) string {
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*"), "lw.")
}
