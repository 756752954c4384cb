package lw

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errReset = errors.New("connection reset")

func status(code int) *StatusError { return &StatusError{Status: Status{Code: code}} }

// tooLarge is the answer to a resourceVersion of the future.
var tooLarge = &StatusError{Status: Status{Code: 504, Message: "Too large resource version"}}

// rig drives a machine by hand. Its random numbers are zero and its clock moves only when a test moves it.
type rig struct {
	*testing.T
	*machine
	now moment
}

// newRig returns a rig for a machine that makes ordinary lists.
func newRig(t *testing.T, opts Options) *rig {
	opts.NoStreamingList = true
	return newStreamingRig(t, opts)
}

func newStreamingRig(t *testing.T, opts Options) *rig {
	r := &rig{T: t, machine: newMachine(&opts, new(support), nil), now: time.Second}
	r.random = func() float64 { return 0 }
	return r
}

func (r *rig) do(in input) *Interruption {
	in.now = r.now
	_, result := r.step(&in)
	return result
}

// ask makes the next request.
func (r *rig) ask() { r.do(input{signal: asking}) }

func (r *rig) pass(d time.Duration) { r.now += d }

// rest fills the request budget and empties the window of lists.
func (r *rig) rest() *rig {
	r.pass(time.Hour)
	return r
}

// page answers a page of a list, whose objects are numbered from start.
func (r *rig) page(version, token, start string, objects int) *Interruption {
	r.ask()
	return r.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: version, Continue: token}, start: Key{Name: start}, objects: objects})
}

// synced answers a list with one page.
func (r *rig) synced(version string) *rig {
	require.Nil(r, r.page(version, "", "a", 1))
	require.IsType(r, &watching{}, r.state)
	return r
}

// opens makes a watch request and answers it.
func (r *rig) opens() *rig {
	r.ask()
	r.do(input{signal: opened})
	return r
}

func (r *rig) brings(version string) *Interruption {
	return r.do(input{signal: happened, event: Modified, version: version})
}

func (r *rig) bookmarks(version string) *Interruption {
	return r.do(input{signal: happened, event: Bookmark, version: version})
}

// marks ends the list part of a streaming list.
func (r *rig) marks(version string) *Interruption {
	return r.do(input{signal: endMarked, version: version})
}

func (r *rig) fails(err error) *Interruption { return r.do(input{signal: failed, err: err}) }

func (r *rig) closes() *Interruption { return r.do(input{signal: endedClean}) }

// watchFails makes a watch request that is answered and then fails at once.
func (r *rig) watchFails(err error) *Interruption { return r.opens().fails(err) }

// listFails makes a list request that fails.
func (r *rig) listFails(err error) *Interruption {
	r.ask()
	return r.fails(err)
}
