//go:build !js

package http

import (
	"fmt"
	"io"
	"strconv"
)

// Format prints the options for every fmt verb, because options are often logged. It prints "…" instead of secrets.
func (o Options) Format(f fmt.State, verb rune) {
	type plain Options // plain has no Format method, so Fprintf prints its fields
	o.Token, o.Proxy = redacted(o.Token), redacted(o.Proxy)
	o.CAData, o.CertData, o.KeyData = []byte(redacted(o.CAData)), []byte(redacted(o.CertData)), []byte(redacted(o.KeyData))
	header := map[string][]string{}
	for name := range o.Header {
		header[name] = []string{"…"}
	}
	o.Header = header
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(o))
}

// Format prints only the server's origin, for every fmt verb.
func (t *Transport) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "http.Transport{"+t.Origin()+"}")
}

// Format prints which fields are set, without their values.
func (c Credential) Format(f fmt.State, verb rune) {
	type plain Credential
	c = Credential{redacted(c.Token), []byte(redacted(c.CertData)), []byte(redacted(c.KeyData))}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// MarshalJSON returns the output of Format as a JSON string, so that JSON logs contain no secrets.
func (c Credential) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(fmt.Sprint(c))), nil }

func redacted[text string | []byte](secret text) string {
	if len(secret) == 0 {
		return ""
	}
	return "…"
}
