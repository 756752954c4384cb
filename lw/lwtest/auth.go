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

// authorize rejects an unknown token with 401, and a missing token or one without access with 403. It returns the
// request without the token in its subprotocols.
func (s *Server) authorize(r *http.Request, rt route) (*http.Request, error) {
	access, rest, err := s.authenticate(r)
	switch {
	case err != nil:
		return r, err
	case access == FullAccess || slices.Contains(public, r.URL.Path):
		return rest, nil
	case access == "":
		return rest, forbidden(r, rt, "system:anonymous")
	}
	return rest, forbidden(r, rt, string(access))
}

// authenticate returns the access of the token, or "" for a request without a token. A valid token in the Authorization
// header takes precedence over one in the subprotocols, which then stays there.
func (s *Server) authenticate(r *http.Request) (Access, *http.Request, error) {
	unauthorized := &apiStatus{Code: http.StatusUnauthorized, Reason: "Unauthorized", Message: "Unauthorized"}
	token, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if access, known := s.access(token); sent && known {
		return access, r, nil
	}
	if isWebSocket(r) {
		token, others, err := cutToken(r.Header.Values("Sec-Websocket-Protocol"))
		if err != nil {
			return "", r, unauthorized
		}
		if token != "" {
			access, known := s.access(token)
			if !known {
				return "", r, unauthorized
			}
			r = r.Clone(r.Context())
			r.Header.Set("Sec-Websocket-Protocol", strings.Join(others, ","))
			return access, r, nil
		}
	}
	switch {
	case sent:
		return "", r, unauthorized
	case s.opts.Tokens == nil:
		return FullAccess, r, nil
	}
	return "", r, nil
}

func (s *Server) access(token string) (access Access, known bool) {
	if s.opts.Tokens == nil {
		return FullAccess, true
	}
	access, known = s.opts.Tokens[token]
	return access, known
}

// bearerProtocol is the prefix of the subprotocol that carries a token. Browsers use it because they cannot set headers
// on a WebSocket.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// cutToken separates the token from the other subprotocols. It requires at least one other, because the server must
// select one.
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
		return "", nil, errors.New("missing subprotocol next to the bearer token")
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
