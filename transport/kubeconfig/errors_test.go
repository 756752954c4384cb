//go:build !js

package kubeconfig_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// Each error must name the file, the line, the entry and the field, and must not contain secrets.
func TestInvalidFiles(t *testing.T) {
	home := onlyFile(t)
	a := certs.NewAuthority(t)
	cert, key := a.Issue(t, "jane")
	_, otherKey := a.Issue(t, "joe")
	empty, dir, certFile := write(t, home+"/empty", "\n"), home, write(t, home+"/cert", cert)
	const good = "server: https://127.0.0.1:1"
	for name, c := range map[string]struct{ cluster, user, want string }{
		"no server":                  {"tls-server-name: x", "{}", `cluster "east": server is missing`},
		"server URL with a password": {"server: 'https://joe:pa55word@x'", "{}", `cluster "east": the server's URL must not have a user`},
		"number as server":           {"server: 12", "{}", `:10:13: cluster "east": server must be a string: put it in quotes`},
		"list as server":             {"server: [pa55word]", "{}", `:10:13: cluster "east": server must be a string`},
		"string as cluster":          {"pa55word", "{}", `:10:5: cluster "east" must be a mapping`},
		"duplicate key":              {good + "; server: pa55word", "{}", `:11: cluster "east": invalid key: mapping key "server" already defined at line 10`},
		"list as key":                {good + "; [pa55word]: x", "{}", `:11: cluster "east": invalid key: cannot unmarshal !!seq into string`},
		"string as boolean":          {good + "; insecure-skip-tls-verify: pa55word", "{}", `insecure-skip-tls-verify must be true or false`},
		"CA data and insecure-skip-tls-verify": {good + "; insecure-skip-tls-verify: true; certificate-authority-data: " + b64(a.PEM), "{}",
			`insecure-skip-tls-verify cannot be combined with certificate-authority-data`},
		"CA data that is not base64": {good + "; certificate-authority-data: pa55word!", "{}", `certificate-authority-data is not valid base64`},
		"CA data without PEM":        {good + "; certificate-authority-data: " + b64("pa55word"), "{}", `certificate-authority-data contains no PEM certificate`},
		"missing CA file":            {good + "; certificate-authority: /x/y", "{}", `:11:28: cluster "east": certificate-authority: open /x/y: no such file or directory`},
		"folder as CA file":          {good + "; certificate-authority: " + dir, "{}", `is not a regular file`},
		"empty CA file":              {good + "; certificate-authority: " + empty, "{}", `certificate-authority: ~/empty contains no PEM certificate`},
		"unsupported proxy scheme":   {good + "; proxy-url: ftp://pa55word@x", "{}", `cluster "east": the proxy's URL must look like`},
		"proxy without a scheme":     {good + "; proxy-url: 127.0.0.1:1", "{}", `cluster "east": the proxy's URL must look like`},
		"cyclic merge":               {"&x {<<: *x}", "{}", `cluster "east" contains an invalid merge`},

		"number as token":             {good, "token: 12345678", `user "dev": token must be a string: put it in quotes`},
		"missing token file":          {good, "tokenFile: none", `user "dev": tokenFile: open `},
		"empty token file":            {good, "tokenFile: " + empty, `tokenFile: the file is empty`},
		"basic authentication":        {good, "username: joe; password: pa55word", `user "dev": username: Kubernetes no longer supports basic authentication: use`},
		"auth-provider":               {good, "auth-provider: {name: gcp}", `auth-provider: Kubernetes no longer supports it: use exec`},
		"certificate without key":     {good, "client-certificate-data: " + b64(cert), `client-key is required with client-certificate`},
		"key without certificate":     {good, "client-key-data: " + b64(key), `client-certificate is required with client-key`},
		"key of another certificate":  {good, "client-certificate-data: " + b64(cert) + "; client-key-data: " + b64(otherKey), `private key does not match`},
		"missing key file":            {good, "client-certificate: " + certFile + "; client-key: /x", `user "dev": client-key: open /x: no such file or directory`},
		"key data that is not base64": {good, "client-certificate: " + certFile + "; client-key-data: pa55word!", `client-key-data is not valid base64`},
		"groups without a user":       {good, "as-groups: [a]", `as is required if`},
		"string as groups":            {good, "as: joe; as-groups: pa55word", `as-groups must be a list`},
		"number as group":             {good, "as: joe; as-groups: [a, 12]", `as-groups[1] must be a string`},
		"string as extra value":       {good, "as: joe; as-user-extra: {x: pa55word}", `as-user-extra.x must be a list`},
		"list as user":                {good, "[pa55word]", `user "dev" must be a mapping`},
		"alias without an anchor":     {good, "token: *pa55word", `put a string that starts with * in quotes`},
		"tab as indentation":          {good, "token:\n\tpa55word", "indent with spaces"},
		"line break in token":         {good, `token: "pa55word\npa55word"`, `user "dev": token contains an invalid character`},
		"token that starts with @":    {good, "token: @pa55word", `in quotes`},
	} {
		path := file(t, c.cluster, c.user)
		_, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
		var typed *kubeconfig.Error
		require.ErrorAs(t, err, &typed, name)
		require.Equal(t, path, typed.File, name)
		require.ErrorContains(t, err, path, name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "pa55word", name)
		require.NotContains(t, err.Error(), "12345678", name)
	}
}

func TestUnreadableFiles(t *testing.T) {
	home := onlyFile(t)
	for name, c := range map[string]struct{ text, want string }{
		"control character":   {"\x00", "control characters are not allowed"},
		"not a mapping":       {"hello", "the value must be a mapping"},
		"a list":              {"- a", "the value must be a mapping"},
		"mapping as contexts": {"contexts: {}", "contexts must be a list"},
		"string as context":   {"contexts: [a]", "contexts[0] must be a mapping"},
		"list as name":        {"users: [{name: []}]", "users[0].name must be a string"},
		"duplicate name":      {"users: [{name: a}, {name: b}, {name: a}]", `users[2].name: duplicate user "a"`},
		"truncated JSON":      {`{"contexts": [`, "line 1"},
		"deep nesting":        {strings.Repeat("[", 1<<20), "depth"},
	} {
		path := write(t, filepath.Join(home, "config"), c.text)
		_, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
		var typed *kubeconfig.Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorContains(t, err, "~/config", name)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: home})
	require.ErrorContains(t, err, ": is a directory")
	_, err = kubeconfig.Load(&kubeconfig.Options{Path: home + "/none"})
	require.ErrorContains(t, err, "~/none: no such file or directory")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestUnknownNamesSuggestSimilarNames(t *testing.T) {
	home := onlyFile(t)
	path := write(t, home+"/config", `
current-context: prdo
contexts:
- {name: prod, context: {cluster: prod, user: admni}}
- {name: staging, context: {cluster: prod-east}}
- {name: preprod, context: {user: admin}}
- {name: something-else, context: {cluster: prod}}
clusters: [{name: prod, cluster: {server: https://prod}}]
users: [{name: admin, user: {}}, {name: "", user: {}}]
`)
	for name, c := range map[string]struct {
		opts kubeconfig.Options
		want string
	}{
		"current context":           {kubeconfig.Options{}, `~/config: current-context: there is no context "prdo"; try "prod" or "preprod" or "staging" (1 more)`},
		"context from the options":  {kubeconfig.Options{Context: "stage"}, `there is no context "stage"; try "staging" or "prod" or "preprod" (1 more)`},
		"user of the context":       {kubeconfig.Options{Context: "prod"}, `~/config: context "prod": user: there is no user "admni"; try "admin"`},
		"user from the options":     {kubeconfig.Options{Context: "prod", User: "x"}, `there is no user "x"; try "admin"`},
		"cluster of the context":    {kubeconfig.Options{Context: "staging"}, `~/config: context "staging": cluster: there is no cluster "prod-east"; try "prod"`},
		"cluster from the options":  {kubeconfig.Options{Context: "prod", Cluster: "x"}, `there is no cluster "x"; try "prod"`},
		"context without a cluster": {kubeconfig.Options{Context: "preprod"}, `~/config: context "preprod": cluster is missing`},
	} {
		c.opts.Path = path
		_, err := kubeconfig.Load(&c.opts)
		require.EqualError(t, err, c.want, name)
	}
}

// The errors must list the files that Load searched.
func TestNoServer(t *testing.T) {
	home := onlyFile(t)
	for _, c := range []struct{ text, want string }{
		{"-", "no server: there is no kubeconfig at ~/.kube/config"},
		{"", "no server: there is no context in ~/.kube/config"},
		{" \n# nothing\n", "no server: there is no context in ~/.kube/config"},
		{"contexts: [{name: a, context: {cluster: a}}]", "no server: there is no current-context; try \"a\""},
	} {
		if c.text != "-" {
			write(t, home+"/.kube/config", c.text)
		}
		_, err := kubeconfig.Load(nil)
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, kubeconfig.ErrNowhere)
	}
}
