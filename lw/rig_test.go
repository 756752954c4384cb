package lw

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errReset = errors.New("connection reset")

func status(code int) *StatusError { return &StatusError{Code: code} }

// tooLarge is the server's error if it has not reached the requested resourceVersion.
var tooLarge = &StatusError{Code: 504, Message: "Too large resource version"}

// machineHarness drives a machine. Its random numbers are zero, and only the test advances its clock.
type machineHarness struct {
	*testing.T
	*machine
	now moment
}

// newMachineHarness returns a harness without streaming lists.
func newMachineHarness(t *testing.T, opts Options) *machineHarness {
	opts.NoStreamingList = true
	return newStreamingHarness(t, opts)
}

func newStreamingHarness(t *testing.T, opts Options) *machineHarness {
	r := &machineHarness{T: t, machine: newMachine(&opts, new(support), nil), now: time.Second}
	r.random = func() float64 { return 0 }
	return r
}

func (r *machineHarness) do(in input) *Interruption {
	in.now = r.now
	_, result := r.step(&in)
	return result
}

// ask starts the next request.
func (r *machineHarness) ask() { r.do(input{signal: asking}) }

func (r *machineHarness) pass(d time.Duration) { r.now += d }

// rest advances the clock until the request budget and the list budget are full.
func (r *machineHarness) rest() *machineHarness {
	r.pass(time.Hour)
	return r
}

// page requests a list and answers with one page. start is the name of the page's first object.
func (r *machineHarness) page(version, token, start string, objects int) *Interruption {
	r.ask()
	return r.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: version, Continue: token}, start: Key{Name: start}, objects: objects})
}

// synced requests a list and answers with a complete list.
func (r *machineHarness) synced(version string) *machineHarness {
	require.Nil(r, r.page(version, "", "a", 1))
	require.IsType(r, &watching{}, r.state)
	return r
}

// opens starts a watch and delivers its response.
func (r *machineHarness) opens() *machineHarness {
	r.ask()
	r.do(input{signal: opened})
	return r
}

func (r *machineHarness) receives(version string) *Interruption {
	return r.do(input{signal: happened, event: Modified, version: version})
}

func (r *machineHarness) bookmarks(version string) *Interruption {
	return r.do(input{signal: happened, event: Bookmark, version: version})
}

// marks ends a streaming list with the initial-events-end bookmark.
func (r *machineHarness) marks(version string) *Interruption {
	return r.do(input{signal: endMarked, version: version})
}

func (r *machineHarness) fails(err error) *Interruption { return r.do(input{signal: failed, err: err}) }

func (r *machineHarness) closes() *Interruption { return r.do(input{signal: endedClean}) }

// watchFails starts a watch that fails at once.
func (r *machineHarness) watchFails(err error) *Interruption { return r.opens().fails(err) }

// listFails sends a list request that fails.
func (r *machineHarness) listFails(err error) *Interruption {
	r.ask()
	return r.fails(err)
}
