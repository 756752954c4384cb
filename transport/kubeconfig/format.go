//go:build !js

package kubeconfig

import (
	"encoding/json"
	"fmt"
	"strings"
)

type withoutMethods Options // which has none of the methods below

func (o Options) redacted() withoutMethods {
	if o.Token != "" {
		o.Token = "…"
	}
	if strings.ContainsAny(o.Server, "@?#") { // it is refused, as it may hold a password, and may be logged before
		o.Server = "…"
	}
	return withoutMethods(o)
}

// Format prints the options without the token, by whatever verb: they end up in logs.
func (o Options) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), o.redacted())
}

// MarshalJSON leaves the token out, too.
func (o Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.redacted()) }
