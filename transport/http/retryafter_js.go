package http

import (
	"strconv"
	"time"
)

// retryAfter returns a Retry-After header in seconds. It converts a date and rounds the result up. It returns any other
// header unchanged.
func retryAfter(header string, now time.Time) string {
	date, ok := parseDate(header)
	if !ok {
		return header
	}
	seconds := int64((date.Sub(now)-1)/time.Second) + 1
	return strconv.Itoa(int(min(max(seconds, 0), 1<<31-1)))
}

// parseDate parses an HTTP date in the preferred format and reports whether it is valid. It avoids time.Parse, which
// would increase the size of the WASM module.
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
	number := func(from, to int) (n int) {
		for ; from < to; from++ {
			digit := s[from] - '0'
			valid = valid && digit <= 9
			n = 10*n + int(digit)
		}
		return n
	}
	date := time.Date(number(12, 16), time.Month(month), number(5, 7), number(17, 19), number(20, 22), number(23, 25), 0, time.UTC)
	return date, valid
}
