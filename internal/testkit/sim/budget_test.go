package sim

import "time"

const (
	burst        = 10 // requests at once
	inAnyWindow  = 12 // requests in a window, besides one for each second of it
	listWindow   = 60 * time.Second
	listsAtMost  = 4
	longestAsked = 5 * time.Minute // the most of a Retry-After that counts
)

// budget counts the requests of one run. A request costs one second, and time pays for it to the nanosecond.
type budget struct {
	excess time.Duration // the most paid requests in any window that ends now, minus the window
	tokens time.Duration // a bucket that pays for the same requests
	at     time.Time
	lists  []time.Time // when the lists began that were answered with 200
	wakes  []time.Time
	seen   map[string]bool // the keys on earlier pages of the list
}

func newBudget() *budget { return &budget{tokens: burst * time.Second, at: time.Now()} }

func (b *budget) pass(now time.Time) {
	passed := max(0, now.Sub(b.at)) // a page is paid for when it has come
	b.excess, b.tokens, b.at = max(0, b.excess-passed), min(burst*time.Second, b.tokens+passed), b.at.Add(passed)
}

// pay pays for a request.
func (b *budget) pay(at time.Time) {
	b.pass(at)
	b.excess += time.Second
	b.tokens -= time.Second
}

// woke allows one more request in every window around now.
func (b *budget) woke(now time.Time) {
	b.pass(now)
	b.excess = max(0, b.excess-time.Second)
	b.wakes = append(b.wakes, now)
}

// wait is the longest that the bucket may make the next request wait: one second more than ours would.
func (b *budget) wait(now time.Time) time.Duration {
	b.pass(now)
	return max(0, 2*time.Second-b.tokens)
}

// page notes the keys of a page, and reports whether it brought new ones.
func (b *budget) page(keys []string, first bool) (news bool) {
	if first || b.seen == nil {
		b.seen = map[string]bool{}
	}
	for _, key := range keys {
		news = news || !b.seen[key]
		b.seen[key] = true
	}
	return news
}

// listed notes a list that was answered with 200, and returns how many there were in the window, less the wakes in it.
func (b *budget) listed(began time.Time) (n int) {
	b.lists = append(b.lists, began)
	return within(b.lists, began) - within(b.wakes, began)
}

// listWait is the longest that the next list may have to wait.
func (b *budget) listWait(now time.Time) time.Duration {
	if len(b.lists) < listsAtMost || now.Sub(b.lists[len(b.lists)-listsAtMost]) > 2*listWindow {
		return 0
	}
	return listWindow
}

// within counts the times in the window before now.
func within(times []time.Time, now time.Time) (n int) {
	for i := len(times) - 1; i >= 0 && now.Sub(times[i]) < listWindow; i-- {
		n++
	}
	return n
}
