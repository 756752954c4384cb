//go:build !js

package http

import (
	"fmt"
	"io"
	"strconv"
)

// Format prints the options without what is secret in them, by whatever verb: they end up in logs.
func (o Options) Format(f fmt.State, verb rune) {
	type plain Options // which has no such method
	o.Token, o.Proxy = hidden(o.Token), hidden(o.Proxy)
	o.CAData, o.CertData, o.KeyData = []byte(hidden(o.CAData)), []byte(hidden(o.CertData)), []byte(hidden(o.KeyData))
	header := map[string][]string{}
	for name := range o.Header {
		header[name] = []string{"…"}
	}
	o.Header = header
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(o))
}

// Format prints where the transport goes, by whatever verb.
func (t *Transport) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "http.Transport{"+t.Origin()+"}")
}

// Format prints which parts there are, by whatever verb.
func (c Credential) Format(f fmt.State, verb rune) {
	type plain Credential
	c = Credential{hidden(c.Token), []byte(hidden(c.CertData)), []byte(hidden(c.KeyData))}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// MarshalJSON writes what Format prints, as a text: loggers write JSON.
func (c Credential) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(fmt.Sprint(c))), nil }

func hidden[text string | []byte](secret text) string {
	if len(secret) == 0 {
		return ""
	}
	return "…"
}
