package lw

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errReset = errors.New("connection reset")

func status(code int) *StatusError { return &StatusError{Code: code} }

// tooLarge is the error response to a request for a resourceVersion that the server has not reached.
var tooLarge = &StatusError{Code: 504, Message: "Too large resource version"}

// machineHarness drives a machine in a test. Its random numbers are zero, and only the test advances its clock.
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
	return newResumedHarness(t, "", opts)
}

// newResumedHarness returns a harness for a stream that resumes from a resourceVersion.
func newResumedHarness(t *testing.T, version string, opts Options) *machineHarness {
	r := &machineHarness{T: t, machine: newMachine(&opts, version, false, new(support)), now: time.Second}
	r.policy.random = func() float64 { return 0 }
	return r
}

// do delivers a part of a response to the machine. If that part breaks the protocol, do returns the resulting
// interruption.
func (r *machineHarness) do(part response) *Interruption {
	if _, err := r.event(r.now, &part); err != nil {
		return r.fails(err)
	}
	return nil
}

// options returns the parameters of the next request without starting it.
func (r *machineHarness) options() ListOptions {
	m := *r.machine
	return m.next(r.now)
}

// ask starts the next request. If that is a check after a broken connection, ask lets the check succeed and starts the
// request that follows.
func (r *machineHarness) ask() {
	if r.next(r.now); r.state == checking {
		require.Nil(r, r.check(r.version, false))
		r.next(r.now)
	}
}

// check delivers the response to a check. `refuted` means that the object in the response contradicts the caller's
// state.
func (r *machineHarness) check(version string, refuted bool) *Interruption {
	return r.do(response{version: version, start: Key{Name: "a"}, objects: 1, refuted: refuted})
}

func (r *machineHarness) pass(d time.Duration) { r.now += d }

// rest advances the clock until neither the request budget nor the list limit delays a request.
func (r *machineHarness) rest() *machineHarness {
	r.pass(time.Hour)
	return r
}

// page requests a list and delivers one page as the response. `first` is the name of the page's first object.
func (r *machineHarness) page(version, token, first string, objects int) *Interruption {
	r.ask()
	return r.do(response{version: version, token: token, start: Key{Name: first}, objects: objects})
}

// synced requests a list and delivers a complete list as the response.
func (r *machineHarness) synced(version string) *machineHarness {
	require.Nil(r, r.page(version, "", "a", 1))
	require.Equal(r, watching, r.state)
	return r
}

// opens makes the machine request a watch, and delivers the header of the response.
func (r *machineHarness) opens() *machineHarness {
	r.ask()
	r.do(response{event: WatchStarted})
	return r
}

func (r *machineHarness) receives(version string) *Interruption {
	return r.do(response{event: Modified, version: version})
}

func (r *machineHarness) bookmarks(version string) *Interruption {
	return r.do(response{event: Bookmark, version: version})
}

// marks delivers the initial-events-end bookmark of a streaming list.
func (r *machineHarness) marks(version string) *Interruption {
	return r.do(response{event: Synced, version: version})
}

func (r *machineHarness) fails(err error) *Interruption { return r.failsAfter(err, 0, false) }

// failsAfter ends a request after a part of a page, or in the middle of an object.
func (r *machineHarness) failsAfter(err error, objects int, receiving bool) *Interruption {
	result, _ := r.fail(r.now, err, objects, receiving)
	return result
}

func (r *machineHarness) closes() *Interruption { return r.fails(ErrWatchClosed) }

func (r *machineHarness) watchFails(err error) *Interruption { return r.opens().fails(err) }

func (r *machineHarness) listFails(err error) *Interruption {
	r.ask()
	return r.fails(err)
}
