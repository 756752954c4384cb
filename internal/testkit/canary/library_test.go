package canary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/canary"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

var configMaps = lw.Resource{Version: "v1", Plural: "configmaps"}

// recorder collects values in every format in which a program could log them.
type recorder struct{ strings.Builder }

func (s *recorder) say(values ...any) {
	for _, value := range values {
		fmt.Fprintf(s, "%v %+v %#v %s %q\n", value, value, value, value, value)
		for err, _ := value.(error); err != nil; err = errors.Unwrap(err) {
			fmt.Fprintf(s, "%v %+v %#v\n", err, err, err)
		}
	}
}

func (s *recorder) Warn(msg string, args ...any) { s.say(append(args, msg)...) }

func (s *recorder) trace() *lw.Trace {
	return &lw.Trace{
		Open:   func(req *lw.Request) { s.say(req, *req) },
		Opened: func(req *lw.Request, err error) { s.say(req, err) },
		Frame:  func(t lw.EventType, bytes int) { s.say(t, bytes) },
		Page:   func(meta lw.ListMeta) { s.say(meta) },
		Event: func(event lw.Event[lw.Keyed]) {
			s.say(event)
			if b := event.Interruption; b != nil {
				s.say(b, *b, b.Err)
			}
			if event.Err != nil {
				s.say(event.Err)
			}
		},
		Switched:   func(cause error) { s.say(cause) },
		Redirected: func(origin string) { s.say(origin) },
	}
}

// options returns transport options for each kind of credential. The server must come from [canary.Serve].
func options(t *testing.T, secrets canary.Secrets, authority *certs.Authority, server, token string) map[string]*lwhttp.Options {
	cert, key := authority.Issue(t, "jane")
	for _, line := range strings.Split(string(key), "\n") {
		if len(line) > 40 && line[0] != '-' { // long enough to occur nowhere else by chance, and not a PEM delimiter
			secrets.Add("private key", line)
		}
	}
	target, err := url.Parse(server)
	require.NoError(t, err)
	password := secrets.New("proxy password")
	tunnel := httptest.NewServer(wire.Proxy(func(string, string) (net.Conn, error) { return net.Dial("tcp", target.Host) }))
	t.Cleanup(tunnel.Close)
	proxy := url.URL{Scheme: "http", User: url.UserPassword("jane", password), Host: tunnel.Listener.Addr().String()}
	// No process listens on port 1.
	nobody := url.URL{Scheme: "socks5", User: url.UserPassword("jane", password), Host: "127.0.0.1:1"}
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	return map[string]*lwhttp.Options{
		"token":              {Token: token},
		"token file":         {TokenFile: file},
		"token function":     {TokenFunc: func(context.Context) (string, error) { return token, nil }},
		"client certificate": {CertData: cert, KeyData: key},
		"credential function": {CredentialFunc: func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) {
			return &lwhttp.Credential{Token: token, CertData: cert, KeyData: key}, nil
		}},
		"header":            {Header: http.Header{"X-Api-Key": {secrets.New("header")}}, Token: token},
		"proxy":             {Token: token, Proxy: proxy.String()},
		"unreachable proxy": {Token: token, Proxy: nobody.String()},
		"wrong server name": {Token: token, ServerName: "other.test"},
	}
}

func TestLibraryDoesNotLeakSecrets(t *testing.T) {
	secrets, authority := canary.Secrets{}, certs.NewAuthority(t)
	token := secrets.New("token")
	server := canary.Serve(t, secrets, authority, token, `{"metadata":{"name":"settings"}}`)
	for name, opts := range options(t, secrets, authority, server, token) {
		opts.CAData = authority.PEM
		for _, path := range []string{"/ok", "/echo401", "/echo500", "/echoStatus", "/echoEvent", "/elsewhere", "/nowhere", "/noURL", "/loop", "/cut", "/garbage", "/wrong"} {
			for _, over := range []string{"http", "ws", "auto"} {
				s := &recorder{}
				s.say(opts, *opts)
				follow(t, s, server+path, over, opts)
				secrets.Absent(t, name+" "+path+" "+over, s.String())
			}
		}
	}
}

// follow runs an informer until its watch starts or fails. It then opens another watch and saves the informer's
// objects.
func follow(t *testing.T, s *recorder, server, over string, opts *lwhttp.Options) {
	http, err := lwhttp.New(server, opts)
	require.NoError(t, err)
	defer http.Close()
	transport := lw.Transport(http)
	switch over {
	case "ws":
		transport = ws.New(http)
	case "auto":
		transport = fallback.New(http, ws.New(http))
	}
	client, err := lw.NewClient(transport, configMaps, lw.RawCodec{}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true, StopOn: func(error) bool { return true }, Warn: s.Warn})
	s.say(transport, http, client, informer)
	for event := range informer.Follow(lw.WithTrace(ctx, s.trace())) {
		if s.say(event); event.Interruption != nil {
			s.say(event.Interruption.Err)
		}
		if event.Type == lw.WatchStarted {
			break
		}
	}
	body, err := transport.Open(lw.WithTrace(ctx, s.trace()), &lw.Request{Path: "/api/v1/configmaps", Query: "watch=1&timeoutSeconds=1", Watch: true})
	if s.say(err); err == nil {
		require.NoError(t, body.Close())
	}
	var saved bytes.Buffer
	origin := server + " configmaps"
	snapshot := informer.Store().Snapshot()
	if err := cache.Save(&saved, snapshot, origin, (*lw.Object).Raw); err == nil {
		folder := t.TempDir()
		require.NoError(t, savefile.Save(filepath.Join(folder, "state"), snapshot, origin, (*lw.Object).Raw))
		require.Equal(t, 1, canary.Secrets{}.AbsentFrom(t, folder))
	}
	s.WriteString(saved.String())
}
