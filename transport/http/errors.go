package http

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// errPath reports a request path without a leading slash. Such a path would become part of the URL's host, so another
// host would receive the credentials.
var errPath = errors.New("http: the request path must start with a slash, for example /api/v1/pods")

// errPartial reports a 206 response. No request asks for a range, so the response means that a proxy or server has left
// out a part of the list. If the transport accepted it, the missing objects would look deleted.
var errPartial error = &lw.StatusError{Code: 206, Reason: "PartialContent", Message: "the response is only a part of the resource"}

// isToken reports whether text is valid in an Authorization header. The check is necessary because fetch quotes invalid
// text in its errors, and so would reveal the token. net/http reports invalid text only when it sends a request.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// headerSecrets returns the words in the values of custom headers, because each word may be an API key or a cookie. It
// skips words shorter than 8 bytes, because they also occur in harmless text. It also skips identity headers and the
// User-Agent, so that error messages can contain the user name and the name of the program.
func headerSecrets(header map[string][]string) (secrets redact.Secrets) {
	for name, values := range header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "impersonate-") || strings.HasPrefix(name, "x-remote-") || name == "user-agent" {
			continue
		}
		for _, value := range values {
			for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ';' }) {
				if len(word) >= 8 {
					secrets = append(secrets, word)
				}
			}
		}
	}
	return secrets
}

// retryAfter converts a Retry-After header with a date to seconds, rounded up. It returns any other header unchanged.
func retryAfter(header string, now time.Time) string {
	// RFC 9110, section 5.6.7.
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if date, err := time.Parse(layout, header); err == nil {
			seconds := math.Ceil(date.Sub(now).Seconds())
			return strconv.FormatInt(int64(min(max(seconds, 0), math.MaxInt32)), 10)
		}
	}
	return header
}
