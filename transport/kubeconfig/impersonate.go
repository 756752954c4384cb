//go:build !js

package kubeconfig

import (
	"errors"
	"net/textproto"
	"strings"
)

// impersonate sets the request headers that impersonate a user.
func (l *loader) impersonate(fields *fields) {
	user, uid, groups := fields.string("as"), fields.string("as-uid"), fields.strings("as-groups")
	extra := fields.group("as-user-extra")
	if l.As != "" {
		user, uid, groups, extra = l.As, "", nil, read(nil, "", fields.location)
	}
	if len(l.AsGroups) > 0 {
		groups = l.AsGroups
	}
	if user == "" && (uid != "" || len(groups) > 0 || len(extra.members) > 0) {
		if len(l.AsGroups) > 0 {
			fields.location = &Error{err: errors.New("impersonating a group requires a user")}
		} else {
			fields.fail("as", nil, "the value is required if as-uid, as-groups or as-user-extra is set")
		}
	}
	if user == "" {
		return
	}
	header := map[string][]string{"Impersonate-User": {user}}
	if uid != "" {
		header["Impersonate-Uid"] = []string{uid}
	}
	if len(groups) > 0 {
		header["Impersonate-Group"] = groups
	}
	for key := range extra.members {
		header[textproto.CanonicalMIMEHeaderKey("Impersonate-Extra-"+escape(key))] = extra.strings(key)
	}
	l.config.HTTP.Header = header
}

// escape encodes the characters of a key that are not allowed in a header name as %XX. It keeps upper-case letters, but
// servers convert header names to lower case.
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if letter || c != '%' && strings.IndexByte("!#$&'*+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte("0123456789ABCDEF"[c>>4])
		b.WriteByte("0123456789ABCDEF"[c&15])
	}
	return b.String()
}
