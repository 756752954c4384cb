package lwtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// route describes a request: its API verb and the resource or object in its path.
type route struct {
	verb      string // "list", "watch", "get", "create", "update", "patch", "delete", or "" for other paths
	group     string // "" for the core group and for paths outside the API
	version   string
	resource  *resource // nil if the resource is unknown
	plural    string    // plural name in the path
	namespace string
	name      string

	subresource string // "binding", or "" if the path names no subresource
}

// find returns the route for the path and method of a request. It supports these paths below /api/v1 and
// /apis/GROUP/VERSION:
//
//	/PLURAL[/NAME]
//	/namespaces/NAMESPACE/PLURAL[/NAME]
//	/namespaces/NAMESPACE/pods/NAME/binding
func (s *Server) find(r *http.Request) route {
	rt, rest, ok := splitGroup(r.URL.Path)
	if !ok {
		return route{}
	}
	// /namespaces/NAME/status and /namespaces/NAME/finalize are subresources of a Namespace.
	if len(rest) >= 3 && rest[0] == "namespaces" && rest[2] != "status" && rest[2] != "finalize" {
		rt.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) == 0 {
		return rt
	}
	rt.plural = rest[0]
	if len(rest) > 1 {
		rt.name = rest[1]
	}
	rt.verb = verb(r, rt.name)
	resources := s.resourcesOf(rt.group, rt.version)
	i := slices.IndexFunc(resources, func(res *resource) bool { return res.plural == rt.plural })
	if i < 0 || len(rest) > 3 || len(rest) == 3 && (rest[2] != binding || resources[i].id() != "pods") {
		return rt // an unknown resource or subresource
	}
	if len(rest) == 3 {
		rt.subresource = binding
	}
	res := resources[i]
	if rt.namespace != "" && !res.namespaced || rt.namespace == "" && res.namespaced && rt.name != "" {
		return rt // the path has a namespace that the scope of the resource excludes, or lacks one that it requires
	}
	rt.resource = res
	return rt
}

// splitGroup splits a path that begins with /api/VERSION or /apis/GROUP/VERSION. It returns a route with the group and
// the version, and the remaining segments of the path.
func splitGroup(path string) (rt route, rest []string, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 1:
		return route{version: parts[1]}, parts[2:], true
	case parts[0] == "apis" && len(parts) > 2:
		return route{group: parts[1], version: parts[2]}, parts[3:], true
	}
	return route{}, nil, false
}

// methodVerbs contains the API verb of each method except GET.
var methodVerbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

func verb(r *http.Request, name string) string {
	switch {
	case r.Method != http.MethodGet:
		return cmp.Or(methodVerbs[r.Method], strings.ToLower(r.Method))
	case name != "":
		return "get" // a GET of an object ignores the watch parameter
	case isOn(r.URL.Query(), "watch"):
		return "watch"
	}
	return "list"
}

// isOn reports whether a boolean parameter is set. As in kube-apiserver, any value except "0" and "false" counts as
// true.
func isOn(values url.Values, name string) bool {
	value := values.Get(name)
	return values.Has(name) && value != "0" && !strings.EqualFold(value, "false")
}

// public lists the paths that need no token.
var public = []string{"/version", "/readyz", "/livez", "/healthz"}

// The server knows only these users. Error messages contain their names.
const (
	admin     = "admin"  // a user who may send all requests
	nobody    = "nobody" // a user who may send no requests
	anonymous = "system:anonymous"
)

// authorize rejects a request that is not allowed. The status is 401 if the token is unknown. It is 403 if the request
// has no token or the user nobody. If the token came from a subprotocol, authorize returns the request
// without that subprotocol, so that the WebSocket upgrade cannot select the subprotocol.
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
	unauthorized := newError(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	token, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user, known := s.user(token); sent && known {
		return user, r, nil
	}
	if isWebSocket(r) {
		token, others, ok := cutToken(r.Header.Values("Sec-Websocket-Protocol"))
		if !ok {
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
	case s.opts.Tokens == nil:
		return admin, r, nil
	}
	return anonymous, r, nil
}

func (s *Server) user(token string) (user string, known bool) {
	allowed, known := s.opts.Tokens[token]
	if allowed || s.opts.Tokens == nil {
		return admin, true
	}
	return nobody, known
}

// bearerProtocol is the prefix of the subprotocol that carries a token. Browsers use it because they cannot set headers
// on a WebSocket.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// cutToken separates the token from the other subprotocols. ok is false if the token is malformed or repeated. ok is
// also false if the token is the only subprotocol, because the server must select a subprotocol other than the token.
func cutToken(headers []string) (token string, others []string, ok bool) {
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
				return "", nil, false
			}
			token, found = string(decoded), true
		}
	}
	return token, others, token == "" || len(others) > 0
}

func forbidden(r *http.Request, rt route, user string) *lw.StatusError {
	if rt.verb == "" {
		return newError(http.StatusForbidden, "Forbidden", "forbidden: User %q cannot %s path %q", user, strings.ToLower(r.Method), r.URL.Path)
	}
	res := &resource{group: rt.group, plural: rt.plural}
	object, scope := res.id(), "at the cluster scope"
	if rt.name != "" {
		object += " " + strconv.Quote(rt.name)
	}
	if rt.namespace != "" {
		scope = "in the namespace " + strconv.Quote(rt.namespace)
	}
	return objectError(http.StatusForbidden, "Forbidden", res, rt.name, "%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		object, user, rt.verb, rt.plural, rt.group, scope)
}
