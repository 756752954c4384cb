package lwtest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// public lists the paths that need no token.
var public = []string{"/version", "/readyz", "/livez", "/healthz"}

// Error messages contain the following user names.
const (
	admin     = "admin"  // a user who may send all requests
	nobody    = "nobody" // the user of all tokens in ForbiddenTokens
	anonymous = "system:anonymous"
)

// authorize rejects an unknown token with 401, and a missing or forbidden token with 403. If the token came from a
// subprotocol, authorize returns the request without that subprotocol.
func (s *Server) authorize(r *http.Request, rt route) (*http.Request, error) {
	user, rest, err := s.authenticate(r)
	if err != nil {
		return r, err
	}
	if user == admin || slices.Contains(public, r.URL.Path) {
		return rest, nil
	}
	return rest, forbidden(r, rt, user)
}

// authenticate returns the user of a request, and the request without the token's subprotocol. If the Authorization
// header contains a valid token, authenticate ignores the subprotocols.
func (s *Server) authenticate(r *http.Request) (user string, rest *http.Request, err error) {
	unauthorized := &apiStatus{Code: http.StatusUnauthorized, Reason: "Unauthorized", Message: "Unauthorized"}
	token, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user, known := s.user(token); sent && known {
		return user, r, nil
	}
	if isWebSocket(r) {
		token, others, err := cutToken(r.Header.Values("Sec-Websocket-Protocol"))
		if err != nil {
			return "", r, unauthorized
		}
		if token != "" {
			user, known := s.user(token)
			if !known {
				return "", r, unauthorized
			}
			r = r.Clone(r.Context())
			r.Header.Set("Sec-Websocket-Protocol", strings.Join(others, ","))
			return user, r, nil
		}
	}
	switch {
	case sent:
		return "", r, unauthorized
	case s.needsNoToken():
		return admin, r, nil
	}
	return anonymous, r, nil
}

func (s *Server) user(token string) (user string, known bool) {
	switch {
	case s.needsNoToken(), slices.Contains(s.opts.Tokens, token):
		return admin, true
	case slices.Contains(s.opts.ForbiddenTokens, token):
		return nobody, true
	}
	return "", false
}

func (s *Server) needsNoToken() bool { return s.opts.Tokens == nil && s.opts.ForbiddenTokens == nil }

// bearerProtocol is the prefix of the subprotocol that carries a token. Browsers use it because they cannot set headers
// on a WebSocket.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// cutToken returns the token and the other subprotocols. It requires at least one other subprotocol, because the server
// must select one.
func cutToken(headers []string) (token string, others []string, err error) {
	found := false
	for _, header := range headers {
		for protocol := range strings.SplitSeq(header, ",") {
			protocol = strings.TrimSpace(protocol)
			encoded, ok := strings.CutPrefix(protocol, bearerProtocol)
			if !ok {
				others = append(others, protocol)
				continue
			}
			decoded, err := base64.RawURLEncoding.DecodeString(encoded)
			if err != nil || found {
				return "", nil, errors.New("malformed or repeated bearer token subprotocol")
			}
			token, found = string(decoded), true
		}
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("the bearer token subprotocol must be sent with another subprotocol")
	}
	return token, others, nil
}

func forbidden(r *http.Request, rt route, user string) *apiStatus {
	s := &apiStatus{Code: http.StatusForbidden, Reason: "Forbidden", Details: &apiDetails{}}
	if rt.verb == "" {
		s.Message = fmt.Sprintf("forbidden: User %q cannot %s path %q", user, strings.ToLower(r.Method), r.URL.Path)
		return s
	}
	resource, scope := rt.plural, "at the cluster scope"
	if rt.group != "" {
		resource += "." + rt.group
	}
	if rt.name != "" {
		resource += fmt.Sprintf(" %q", rt.name)
	}
	if rt.namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", rt.namespace)
	}
	s.Details = &apiDetails{Name: rt.name, Group: rt.group, Kind: rt.plural}
	s.Message = fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		resource, user, rt.verb, rt.plural, rt.group, scope)
	return s
}
