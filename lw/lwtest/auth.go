package lwtest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// public paths answer everyone.
var public = []string{"/version", "/readyz", "/livez", "/healthz"}

// authorize refuses unknown tokens with 401, and with 403 those that may do nothing. Who sends no token is one of the
// latter. It gives the request back without the token that stood among its subprotocols.
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

// authenticate finds what the sender may do, "" if it has no token. A token in the Authorization header counts before one
// among the subprotocols, which is then left there.
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

// bearerProtocol begins the subprotocol in which browsers, which can set no header, send their token.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// cutToken takes the token out of the subprotocols. There must be one other, as the server has to choose one.
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
				return "", nil, errors.New("a malformed token, or a second one")
			}
			token, found = string(decoded), true
		}
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("no subprotocol but the token's")
	}
	return token, others, nil
}

func forbidden(r *http.Request, rt route, user string) *apiStatus {
	s := &apiStatus{Code: http.StatusForbidden, Reason: "Forbidden", Details: &apiDetails{}}
	if rt.verb == "" {
		s.Message = fmt.Sprintf("forbidden: User %q cannot %s path %q", user, strings.ToLower(r.Method), r.URL.Path)
		return s
	}
	what, scope := rt.plural, "at the cluster scope"
	if rt.group != "" {
		what += "." + rt.group
	}
	if rt.name != "" {
		what += fmt.Sprintf(" %q", rt.name)
	}
	if rt.namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", rt.namespace)
	}
	s.Details = &apiDetails{Name: rt.name, Group: rt.group, Kind: rt.plural}
	s.Message = fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		what, user, rt.verb, rt.plural, rt.group, scope)
	return s
}
