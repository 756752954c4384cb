package canary

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// Serve starts an API server with TLS for 127.0.0.1 and api.test, and returns its URL. The server accepts the token and
// any client certificate, and contains one ConfigMap. The first element of the request path selects the response:
//
//	/ok                     the response of a correct API server
//	/echo401 /echo500       an error page that repeats headers of the request
//	/echoStatus /echoEvent  a Status that repeats the token in each string, in an error response or an ERROR event
//	/elsewhere /nowhere     a redirect to another server or to a closed port, with a token in the query
//	/noURL /loop            a redirect to an invalid URL or to itself
//	/silent /cut            no response, or a dropped connection
//	/garbage /wrong         a list of a Secret that has a syntax error or a member of the wrong type
//	/secrets                a correct list of a Secret
//
// The test fails if a header of a request to the other server contains a secret. The query contains one, because the
// redirect adds it.
func Serve(t testing.TB, secrets Secrets, authority *certs.Authority, token, configMap string) string {
	t.Helper()
	api, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{token: true}})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	_, err = api.Put("configmaps", configMap)
	require.NoError(t, err)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if found := secrets.In(strings.Join(slices.Concat(slices.Collect(maps.Values(r.Header))...), " ")); found != nil {
			t.Errorf("a request to another server contains %v", found)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	own := httptest.NewUnstartedServer(handler(api, token, secrets.New("Secret data"), other.URL, "?id_token="+url.QueryEscape(secrets.New("login token"))))
	own.Config.ErrorLog = log.New(io.Discard, "", 0)
	own.TLS = authority.Config(t, "api.test", "127.0.0.1")
	own.TLS.ClientAuth = tls.RequestClientCert
	own.StartTLS()
	t.Cleanup(func() {
		own.CloseClientConnections() // ends requests to /silent, for which Close would wait
		own.Close()
	})
	return own.URL
}

// handler returns the server's handler. object is the password in the Secret that the server lists. Redirects go to the
// URL `other` or to a closed port, with login as the query.
func handler(api http.Handler, token, object, other, login string) http.Handler {
	mux := http.NewServeMux()
	ok := func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 { // lwtest checks only tokens
			r.Header.Set("Authorization", "Bearer "+token)
		}
		api.ServeHTTP(w, r)
	}
	mux.HandleFunc("/", ok)
	for path, target := range map[string]string{"elsewhere": other + login, "nowhere": "http://127.0.0.1:1/" + login} {
		mux.Handle("/"+path+"/", http.RedirectHandler(target, http.StatusFound))
	}
	list := `{"kind":"SecretList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","namespace":"default"},"data":{"password":"` + object + `"}`
	for path, body := range map[string]string{"garbage": list + "!" + object, "wrong": list + `,"metadata":"` + object + `"}]}`, "secrets": list + "}]}"} {
		mux.HandleFunc("/"+path+"/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	}
	for path, f := range map[string]http.HandlerFunc{
		"ok":      ok,
		"echo401": func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusUnauthorized) },
		"echo500": func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusInternalServerError) },
		"echoStatus": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, status(r))
		},
		"echoEvent": func(w http.ResponseWriter, r *http.Request) {
			if !r.URL.Query().Has("watch") {
				api.ServeHTTP(w, r)
				return
			}
			_, _ = io.WriteString(w, `{"type":"ERROR","object":`+status(r)+"}")
		},
		"loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.RequestURI, http.StatusFound) },
		"noURL": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://[::1"+login)
			w.WriteHeader(http.StatusFound)
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"cut":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		mux.Handle("/"+path+"/", http.StripPrefix("/"+path, f))
	}
	return mux
}

// status returns a Status that repeats the request's token in every string. The message is so long that lwcat truncates
// it in the middle of a token, because lwcat prints at most 4,000 bytes. It must also redact the part of the token that
// remains.
func status(r *http.Request) string {
	token := r.Header.Get("Authorization")
	encoded := base64.RawURLEncoding.EncodeToString([]byte(token))
	return fmt.Sprintf(`{"kind":"Status","code":403,"message":"%s %s, %s","reason":%[2]q,"details":{"name":%[2]q,"kind":%[2]q,"causes":[{"reason":%[2]q,"message":%[2]q}]}}`,
		strings.Repeat("-", 3980), token, encoded)
}

// echo writes the Authorization and User-Agent headers on one line, because errors quote only the first line of a page.
func echo(w http.ResponseWriter, r *http.Request, code int) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, r.Header.Get("Authorization")+" was sent by "+r.Header.Get("User-Agent"))
}
