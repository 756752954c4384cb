package sim

import "time"

const (
	burst        = 10 // number of requests that may be sent at once
	inAnyWindow  = 12 // maximum number of requests in a time window, in addition to one per second
	listWindow   = 60 * time.Second
	listsAtMost  = 4
	longestAsked = 5 * time.Minute // maximum delay that the engine accepts from Retry-After
)

// budget checks the request rate of a stream. Each request costs one second of simulated time.
type budget struct {
	excess time.Duration // largest cost of the requests in a time window, minus the length of the window
	tokens time.Duration // remaining budget of the request limit
	at     time.Time
	lists  []time.Time // start times of the lists that returned 200
	wakes  []time.Time
	seen   map[string]bool // object keys on the earlier pages of the current list
}

func newBudget() *budget { return &budget{tokens: burst * time.Second, at: time.Now()} }

func (b *budget) pass(now time.Time) {
	passed := max(0, now.Sub(b.at)) // now may be earlier than b.at, because pages are charged at their start time
	b.excess, b.tokens, b.at = max(0, b.excess-passed), min(burst*time.Second, b.tokens+passed), b.at.Add(passed)
}

// pay charges the budget for a request that started at the given time.
func (b *budget) pay(at time.Time) {
	b.pass(at)
	b.excess += time.Second
	b.tokens -= time.Second
}

// woke permits an additional request, because Options.Wake ended a delay.
func (b *budget) woke(now time.Time) {
	b.pass(now)
	b.excess = max(0, b.excess-time.Second)
	b.wakes = append(b.wakes, now)
}

// wait returns the longest time that the engine may wait for its request budget. It includes a tolerance of one second.
func (b *budget) wait(now time.Time) time.Duration {
	b.pass(now)
	return max(0, 2*time.Second-b.tokens)
}

// page records the object keys of a page and reports whether any key is new in the list. first is set for the first
// page.
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

// listed records a list that returned 200. It returns the number of lists within listWindow, minus the number of delays
// that Options.Wake ended in that time.
func (b *budget) listed(began time.Time) (n int) {
	b.lists = append(b.lists, began)
	return within(b.lists, began) - within(b.wakes, began)
}

// listWait returns the longest time that the engine may wait because of the limit on lists.
func (b *budget) listWait(now time.Time) time.Duration {
	if len(b.lists) < listsAtMost || now.Sub(b.lists[len(b.lists)-listsAtMost]) > 2*listWindow {
		return 0
	}
	return listWindow
}

// within counts the elements of times that are less than listWindow before now.
func within(times []time.Time, now time.Time) (n int) {
	for i := len(times) - 1; i >= 0 && now.Sub(times[i]) < listWindow; i-- {
		n++
	}
	return n
}
