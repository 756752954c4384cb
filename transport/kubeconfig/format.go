//go:build !js

package kubeconfig

import (
	"encoding/json"
	"fmt"
	"strings"
)

type bare Options // which has none of the methods below

func (o Options) shown() bare {
	if o.Token != "" {
		o.Token = "…"
	}
	if strings.ContainsAny(o.Server, "@?#") { // it is refused, as it may hold a password, and may be logged before
		o.Server = "…"
	}
	return bare(o)
}

// Format prints the options without the token, by whatever verb: they end up in logs.
func (o Options) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), o.shown())
}

// MarshalJSON leaves the token out, too.
func (o Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.shown()) }
