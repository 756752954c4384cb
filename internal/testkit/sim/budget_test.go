package sim

import "time"

const (
	burst        = 10               // number of requests that may be sent at once
	inAnyWindow  = 12               // maximum number of requests in a time window, in addition to one per second
	listWindow   = 60 * time.Second // window of the limit on lists
	listsAtMost  = 4                // lists in a window may deliver this many full pages, plus less than one page
	longestAsked = 5 * time.Minute  // maximum delay that the engine accepts from Retry-After
)

// budget checks a stream's request rate and its limit on lists. Each request costs one second of simulated time, because
// the budget permits one request per second in the long run.
type budget struct {
	excess time.Duration   // how far the cost of requests exceeds the length of the worst window that ends now
	tokens time.Duration   // remaining budget of the request limit
	at     time.Time       // time up to which excess and tokens are computed
	large  int             // maximum number of objects for which one list counts toward the limit on lists
	lists  []charge        // the objects that lists have delivered so far
	wakes  []time.Time     // when Options.Wake ended a delay
	seen   map[string]bool // object keys on the earlier pages of the current list
}

// charge is a part of a list's cost. A list costs one unit per object, but at most budget.large units.
type charge struct {
	at      time.Time
	objects int
}

// newBudget returns the budget of a stream that requests pages of this size.
func newBudget(pageSize int) *budget {
	b := &budget{tokens: burst * time.Second, at: time.Now(), large: 500}
	if pageSize > 0 {
		b.large = min(b.large, pageSize)
	}
	return b
}

// pass adds the budget for the time that has passed.
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

// woke permits one more request, because Options.Wake ended a delay.
func (b *budget) woke(now time.Time) {
	b.pass(now)
	b.excess = max(0, b.excess-time.Second)
	b.wakes = append(b.wakes, now)
}

// wait returns how long the engine may wait for its request budget, including a tolerance of one second.
func (b *budget) wait(now time.Time) time.Duration {
	b.pass(now)
	return max(0, 2*time.Second-b.tokens)
}

// page records the object keys on a page and reports whether any key is new in the list. `first` is set for the first
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

// listed records a list's object and reports whether the limit on lists permits it. Each delay that Options.Wake
// ended permits one more list.
func (b *budget) listed(began time.Time) bool {
	b.lists = append(b.lists, charge{began, 1})
	permitted := (listsAtMost + 1) * b.large
	for i := len(b.wakes) - 1; i >= 0 && began.Sub(b.wakes[i]) < listWindow; i-- {
		permitted += b.large
	}
	return b.listCost(began, listWindow) < permitted
}

// listCost returns how many objects lists have delivered in the time window that ends now.
func (b *budget) listCost(now time.Time, window time.Duration) (objects int) {
	for i := len(b.lists) - 1; i >= 0 && now.Sub(b.lists[i].at) < window; i-- {
		objects += b.lists[i].objects
	}
	return objects
}

// listWait returns how long the limit on lists may delay the engine. Lists with few objects cause no delay.
func (b *budget) listWait(now time.Time) time.Duration {
	if b.listCost(now, 2*listWindow) <= (listsAtMost-1)*b.large {
		return 0
	}
	return listWindow
}
