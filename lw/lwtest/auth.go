package lwtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// public paths answer everyone.
var public = []string{"/version", "/readyz", "/livez", "/healthz"}

// authorize refuses unknown tokens with 401, and with 403 those that may do
// nothing. Who sends no token is one of the latter.
func (s *Server) authorize(r *http.Request, rt route) error {
	if s.opts.Tokens == nil {
		return nil
	}
	user, access := "system:anonymous", NoAccess
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		known := false
		if access, known = s.opts.Tokens[token]; !known {
			return &Status{Code: http.StatusUnauthorized, Reason: "Unauthorized", Message: "Unauthorized"}
		}
		user = string(access)
	}
	if access == FullAccess || slices.Contains(public, r.URL.Path) {
		return nil
	}
	return forbidden(r, rt, user)
}

func forbidden(r *http.Request, rt route, user string) *Status {
	s := &Status{Code: http.StatusForbidden, Reason: "Forbidden", Details: &Details{}}
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
	s.Details = &Details{Name: rt.name, Group: rt.group, Kind: rt.plural}
	s.Message = fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		what, user, rt.verb, rt.plural, rt.group, scope)
	return s
}
