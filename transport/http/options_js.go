package http

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Options configures a [Transport]. The zero value is valid and sends no credentials.
type Options struct {
	Token     string                                // bearer token
	TokenFunc func(context.Context) (string, error) // returns the bearer token; called for every request, and again after a 401

	Header map[string][]string // headers for every request, for example Impersonate-User; the server must allow them with CORS

	// Credentials is the credentials option of fetch, which controls cookies and client certificates: "omit",
	// "same-origin" (the default) or "include".
	Credentials string
}

func (o *Options) validate(server string) error {
	scheme, rest, _ := strings.Cut(server, "://")
	switch {
	case scheme != "http" && scheme != "https" || rest == "" || rest[0] == '/':
		return errors.New("http: the server's URL must look like https://host:port")
	case strings.ContainsAny(rest, "@?#"):
		return errors.New("http: the server's URL must not have a user, a query or a fragment")
	case !isToken(o.Token):
		return errors.New("http: the token contains an invalid character")
	case o.Token != "" && o.TokenFunc != nil:
		return errors.New("http: only one of Token and TokenFunc may be set")
	case !slices.Contains([]string{"", "omit", "same-origin", "include"}, o.Credentials):
		return errors.New("http: Credentials must be omit, same-origin or include")
	}
	return nil
}
