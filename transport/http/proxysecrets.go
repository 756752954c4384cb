//go:build !js

package http

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
)

// proxySecrets returns the proxy passwords that requests to the server may use. A proxy may repeat its password in an
// error.
func (o *Options) proxySecrets(server *url.URL) (secrets redact.Secrets, err error) {
	toProxy, err := o.proxy()
	if o.Client != nil {
		toProxy = proxyOf(o.Client.Transport)
	}
	if err != nil || toProxy == nil {
		return nil, err
	}
	for _, scheme := range []string{"http", "https"} { // a redirect to another scheme may use another proxy
		proxy, err := toProxy(&http.Request{URL: &url.URL{Scheme: scheme, Host: server.Host}})
		if err != nil || proxy == nil {
			continue // the request will fail with the same error
		}
		if password, ok := proxy.User.Password(); ok {
			basic := base64.StdEncoding.EncodeToString([]byte(proxy.User.Username() + ":" + password))
			secrets = append(secrets, password, basic)
		}
	}
	return secrets, nil
}

// proxyOf returns the Proxy function of a custom client's transport, or nil if it is unknown.
func proxyOf(transport http.RoundTripper) func(*http.Request) (*url.URL, error) {
	if known, ok := cmp.Or(transport, http.DefaultTransport).(*http.Transport); ok {
		return known.Proxy
	}
	return nil
}
