package http

import (
	"context"
	"errors"
)

// Options configure a [Transport]. The zero value is good for a server without authentication.
type Options struct {
	Token     string                                // bearer token
	TokenFunc func(context.Context) (string, error) // asked for every request, and once more after a 401

	Header map[string][]string // sent with every request, as Impersonate-User; a page's server has to allow each by CORS

	// Credentials says whether cookies and client certificates go with a request: "omit", "same-origin" or "include", as
	// the option of that name of fetch does, whose default it has.
	Credentials string
}

func (o *Options) validate(server string) error {
	switch _, rest := cutScheme(server); {
	case rest == "" || rest[0] == '/':
		return errors.New("http: the server's URL must look like https://host:port")
	case has(rest, '@', '?', '#'):
		return errors.New("http: the server's URL must not have a user, a query or a fragment")
	case !isToken(o.Token):
		return errors.New("http: the token has a character that no header may have")
	case o.Token != "" && o.TokenFunc != nil:
		return errors.New("http: only one of Token and TokenFunc may be set")
	}
	switch o.Credentials {
	case "", "omit", "same-origin", "include":
		return nil
	}
	return errors.New("http: Credentials must be omit, same-origin or include")
}

// cutScheme returns what is behind "http://" or "https://"; "" if it begins with neither.
func cutScheme(url string) (scheme, rest string) {
	for _, scheme := range []string{"http", "https"} {
		if n := len(scheme) + len("://"); len(url) > n && url[:n] == scheme+"://" {
			return scheme, url[n:]
		}
	}
	return "", ""
}

func has(s string, any ...byte) bool {
	for i := range len(s) {
		for _, c := range any {
			if s[i] == c {
				return true
			}
		}
	}
	return false
}
