package lw

import (
	"math"
	"time"
)

// parseRetryAfter reads a Retry-After header: seconds, or an HTTP date such as "Sun, 06 Nov 1994 08:49:37 GMT". The two
// obsolete forms of dates are not understood. It returns zero for a time that has passed, and for anything else.
// https://www.rfc-editor.org/rfc/rfc9110.html#field.retry-after
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, ok := decimal(header, math.MaxInt32); ok {
		return time.Duration(seconds) * time.Second
	}
	date, ok := parseDate(header)
	if !ok {
		return 0
	}
	return min(max(date.Sub(now), 0), math.MaxInt32*time.Second)
}

// parseDate reads the form of an HTTP date that servers must send. It does without time.Parse, which would add to the size
// of the WASM module.
func parseDate(s string) (time.Time, bool) {
	const form, months = "Sun, 06 Nov 1994 08:49:37 GMT", "JanFebMarAprMayJunJulAugSepOctNovDec"
	if len(s) != len(form) || s[25:] != form[25:] {
		return time.Time{}, false
	}
	month := 0
	for i := 0; i < len(months); i += 3 {
		if months[i:i+3] == s[8:11] {
			month = i/3 + 1
		}
	}
	valid := month > 0
	number := func(from, to, most int) int {
		n, ok := decimal(s[from:to], uint64(most))
		valid = valid && ok
		return int(n)
	}
	date := time.Date(number(12, 16, 9999), time.Month(month), number(5, 7, 31), number(17, 19, 23), number(20, 22, 59), number(23, 25, 60), 0, time.UTC)
	return date, valid
}
