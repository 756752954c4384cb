package clients

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// outcome contains the settings that a loader returns.
type outcome struct {
	Server, Namespace, Token, CA, ServerName, Cert, Key, Proxy string
	Insecure, Uncompressed, Exec                               bool
	Impersonate                                                string
}

// kubeconfigs generates random kubeconfig files and the files to which they refer.
type kubeconfigs struct {
	*rand.Rand
	*testing.T
	folder     string
	cert, key  [2][]byte // two key pairs; their certificates also serve as CAs
	names      []string
	deliberate map[string]int // counts of deliberate differences by reason
}

// TestKubeconfigsMatchClientGo loads random files with listwatch and client-go. Both must fail or return the same
// settings, except for the deliberate differences in explain and adjust.
func TestKubeconfigsMatchClientGo(t *testing.T) {
	// Without these variables, the loaders would also use the in-cluster configuration or the kubeconfig of the user.
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("HOME", t.TempDir())
	k := &kubeconfigs{T: t, folder: t.TempDir(), names: []string{"a", "b", "c"}, deliberate: map[string]int{}}
	authority := certs.NewAuthority(t)
	for i := range k.cert {
		cert, key := authority.Issue(t, "jane")
		k.cert[i], k.key[i] = bytes.TrimSpace(cert), bytes.TrimSpace(key)
		k.put(fmt.Sprintf("cert%d", i), k.cert[i])
		k.put(fmt.Sprintf("key%d", i), k.key[i])
	}
	same, refused := 0, 0
	for seed := range uint64(3000) {
		k.Rand = rand.New(rand.NewPCG(seed, 1))
		opts, overrides := k.options(), &clientcmd.ConfigOverrides{}
		t.Setenv("KUBECONFIG", k.write())
		translate(opts, overrides)
		theirs, theirErr := k.clientGo(overrides)
		ours, ourErr := k.ours(opts)
		switch {
		case ourErr != nil && theirErr != nil:
			refused++
		case ourErr != nil || theirErr != nil:
			k.explain(seed, opts, ours, theirs, ourErr, theirErr)
		default:
			k.adjust(opts, &theirs)
			require.Equal(t, theirs, ours, "seed %d, options %+v, files %s", seed, opts, os.Getenv("KUBECONFIG"))
			same++
		}
	}
	t.Logf("%d equal results, %d configurations rejected by both loaders, deliberate differences: %v", same, refused, k.deliberate)
	require.Greater(t, same, 1000)
	require.Greater(t, refused, 200)
	require.Len(t, k.deliberate, 8, "each deliberate difference must occur; remove the others from explain()")
}

// explain handles a kubeconfig that only one of the loaders rejects. It counts deliberate differences by reason. Any
// other difference fails the test.
func (k *kubeconfigs) explain(seed uint64, opts *kubeconfig.Options, taken, theirTaken outcome, ours, theirs error) {
	if theirs == nil && strings.HasPrefix(theirTaken.Server, "http://") && strings.Contains(ours.Error(), "cert") {
		k.deliberate["invalid CA for a plain HTTP server: client-go ignores it"]++
		return
	}
	if ours == nil && (strings.HasPrefix(taken.Server, "http://") || opts.Token != "") && !strings.Contains(theirs.Error(), "cluster") {
		k.deliberate["invalid credentials that are not sent: listwatch ignores them"]++
		return
	}
	if ours == nil && taken.Token+taken.Cert != "" && strings.Contains(theirs.Error(), "invalid apiVersion") {
		k.deliberate["invalid plugin of a user with a token or a certificate: listwatch ignores it"]++
		return
	}
	for text, reason := range map[string]string{
		"there is no user ":              "context with an unknown user: client-go sends no credentials",
		"basic authentication":           "password: listwatch rejects it, because servers no longer accept passwords",
		"client-certificate is required": "key without a certificate: client-go ignores it",
		"are both specified":             "both data and a path: client-go rejects this combination, although its types document that the data takes precedence",
		"executable file not found":      "missing plugin: client-go fails only at the first request",
	} {
		if err := errors.Join(ours, theirs); strings.Contains(err.Error(), text) {
			k.deliberate[reason]++
			return
		}
	}
	require.Fail(k, "only one loader failed", "seed %d, files %s\nlistwatch: %v\nclient-go: %v", seed, os.Getenv("KUBECONFIG"), ours, theirs)
}

// adjust changes client-go's settings where they deliberately differ from listwatch's. The test can then compare the
// rest.
func (k *kubeconfigs) adjust(opts *kubeconfig.Options, theirs *outcome) {
	if opts.Token != "" {
		theirs.Token, theirs.Cert, theirs.Key, theirs.Exec = opts.Token, "", "", false // the certificate must not be sent, because a server prefers it over the token
	}
	if opts.As != "" {
		theirs.Impersonate = fmt.Sprint(opts.As, "", opts.AsGroups, map[string][]string{}) // --as replaces all impersonation settings of the user
	}
}

func (k *kubeconfigs) ours(opts *kubeconfig.Options) (outcome, error) {
	config, err := kubeconfig.Load(opts)
	if err != nil {
		return outcome{}, err
	}
	o := config.HTTP
	if strings.HasPrefix(config.Server, "http://") {
		o.CAFile, o.CAData, o.InsecureSkipVerify, o.ServerName = "", nil, false, "" // without TLS, these settings have no effect
	}
	extra := map[string][]string{}
	for name, values := range o.Header {
		if key, ok := strings.CutPrefix(name, "Impersonate-Extra-"); ok {
			extra[strings.ToLower(key)] = values
		}
	}
	out := outcome{
		Server: config.Server, Namespace: config.Namespace, Token: k.either(o.TokenFile, []byte(o.Token)),
		CA: k.either(o.CAFile, o.CAData), ServerName: o.ServerName, Cert: k.either(o.CertFile, o.CertData), Key: k.either(o.KeyFile, o.KeyData),
		Proxy: o.Proxy, Insecure: o.InsecureSkipVerify, Uncompressed: o.DisableCompression, Exec: o.CredentialFunc != nil,
	}
	if user := o.Header["Impersonate-User"]; user != nil {
		out.Impersonate = fmt.Sprint(user[0], strings.Join(o.Header["Impersonate-Uid"], ""), o.Header["Impersonate-Group"], extra)
	}
	return out, nil
}

func (k *kubeconfigs) clientGo(overrides *clientcmd.ConfigOverrides) (outcome, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), overrides)
	c, err := loader.ClientConfig()
	if err != nil {
		return outcome{}, err
	}
	if _, err = rest.TransportFor(c); err != nil { // loads the files that the config names
		return outcome{}, err
	}
	namespace, _, err := loader.Namespace()
	url, _, hostErr := rest.DefaultServerUrlFor(c)
	if err = errors.Join(err, hostErr); err != nil {
		return outcome{}, err
	}
	out := outcome{
		Server: strings.TrimSuffix(url.String(), "/"), Namespace: namespace, Token: k.either(c.BearerTokenFile, []byte(c.BearerToken)), CA: k.either(c.CAFile, c.CAData),
		ServerName: c.ServerName, Cert: k.either(c.CertFile, c.CertData), Key: k.either(c.KeyFile, c.KeyData), Insecure: c.Insecure, Uncompressed: c.DisableCompression,
		Exec: c.ExecProvider != nil && c.BearerToken == "" && c.BearerTokenFile == "" && c.CertFile == "" && len(c.CertData) == 0,
	}
	if i := c.Impersonate; i.UserName != "" {
		out.Impersonate = fmt.Sprint(i.UserName, i.UID, i.Groups, i.Extra)
	}
	if c.Proxy != nil {
		proxy, _ := c.Proxy(nil)
		out.Proxy = proxy.String()
	}
	return out, nil
}

// either returns data if data is in PEM format or if the file at path cannot be read. Otherwise, it returns the file's
// content without surrounding white space.
func (k *kubeconfigs) either(path string, data []byte) string {
	text, err := os.ReadFile(path)
	if err != nil || len(data) > 0 && bytes.Contains(data, []byte("BEGIN")) {
		return string(data)
	}
	return strings.TrimSpace(string(text))
}

func (k *kubeconfigs) put(name string, text []byte) {
	require.NoError(k, os.MkdirAll(filepath.Dir(filepath.Join(k.folder, name)), 0o700))
	require.NoError(k, os.WriteFile(filepath.Join(k.folder, name), text, 0o600))
}

// write creates up to three kubeconfig files, some of them empty. It returns a value for KUBECONFIG that may also
// contain paths of missing files.
func (k *kubeconfigs) write() string {
	var paths []string
	for i := range 1 + k.IntN(3) {
		path := filepath.Join(k.folder, fmt.Sprintf("sub%d", i), "config")
		k.put(fmt.Sprintf("sub%d/token", i), []byte(fmt.Sprintf("token-%d\n", i)))
		switch k.IntN(12) {
		case 0:
			path += "-missing"
		case 1:
			k.put(fmt.Sprintf("sub%d/config", i), nil)
		default:
			require.NoError(k, clientcmd.WriteToFile(*k.config(), path))
		}
		paths = append(paths, path)
	}
	if k.IntN(6) == 0 {
		paths = append(paths, "", paths[0])
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

func (k *kubeconfigs) name() string { return k.names[k.IntN(len(k.names))] }

// some returns one of the given values at random. With a probability of none/10, it returns "" instead.
func (k *kubeconfigs) some(none int, values ...string) string {
	if k.IntN(10) < none {
		return ""
	}
	return values[k.IntN(len(values))]
}

func (k *kubeconfigs) config() *api.Config {
	c := api.NewConfig()
	c.CurrentContext = k.some(3, k.names...)
	for range 2 + k.IntN(4) {
		c.Contexts[k.name()] = &api.Context{Cluster: k.name(), AuthInfo: k.some(2, k.names...), Namespace: k.some(5, "shop", "kube-system")}
		c.Clusters[k.name()] = k.cluster()
		c.AuthInfos[k.name()] = k.user()
	}
	return c
}

func (k *kubeconfigs) cluster() *api.Cluster {
	c := &api.Cluster{
		Server:        k.some(0, "https://one:6443", "https://two/with/path", "http://plain:8001", "bare:8080", "https://[::1]:6443"),
		TLSServerName: k.some(7, "api.test"), InsecureSkipTLSVerify: k.IntN(8) == 0, DisableCompression: k.IntN(8) == 0,
		CertificateAuthority: k.some(8, "../cert0", filepath.Join(k.folder, "cert1")), ProxyURL: k.some(7, "http://proxy:3128", "socks5://joe:p@proxy:1080"),
	}
	if k.IntN(5) == 0 {
		c.CertificateAuthorityData = k.cert[k.IntN(2)]
	}
	switch k.IntN(40) {
	case 0:
		c.Server = ""
	case 1:
		c.ProxyURL = "ftp://proxy"
	case 2:
		c.CertificateAuthority = "../missing"
	case 3:
		c.CertificateAuthorityData = []byte("no PEM")
	}
	return c
}

func (k *kubeconfigs) user() *api.AuthInfo {
	u := &api.AuthInfo{Token: k.some(6, "t1", "t2"), TokenFile: k.some(7, "token", "../sub0/token"), Impersonate: k.some(8, "joe"), ImpersonateUID: k.some(9, "7")}
	if k.IntN(10) == 0 {
		u.ImpersonateGroups, u.ImpersonateUserExtra = []string{"g1", "g2"}, map[string][]string{"scopes": {"x", "y"}}
	}
	if which := k.IntN(2); k.IntN(3) == 0 {
		u.ClientCertificateData, u.ClientKeyData = k.cert[which], k.key[which]
	} else if k.IntN(3) == 0 {
		u.ClientCertificate, u.ClientKey = fmt.Sprintf("../cert%d", which), filepath.Join(k.folder, fmt.Sprintf("key%d", which))
	}
	if k.IntN(5) == 0 {
		u.Exec = &api.ExecConfig{Command: k.some(0, "true", "no-such-plugin"), APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}
	}
	switch k.IntN(40) {
	case 0:
		u.Username, u.Password = "joe", "p"
	case 1:
		u.TokenFile = "missing"
	case 2:
		u.ClientKeyData = k.key[k.IntN(2)]
	case 3:
		u.ClientKey, u.ClientKeyData = "", nil
	case 4:
		u.ClientCertificate, u.ClientCertificateData = "../missing", nil
	case 5:
		u.Exec = &api.ExecConfig{Command: "true", APIVersion: "client.authentication.k8s.io/v1alpha1", InteractiveMode: "Never"}
	}
	return u
}

// options returns random options. Most fields are empty.
func (k *kubeconfigs) options() *kubeconfig.Options {
	o := &kubeconfig.Options{
		Context: k.some(7, k.names...), Cluster: k.some(9, k.names...), User: k.some(9, k.names...),
		Server: k.some(8, "https://mine:6443", "http://mine:8001"), ServerName: k.some(9, "mine.test"), Insecure: k.IntN(10) == 0,
		CAFile: k.some(9, filepath.Join(k.folder, "cert1")), As: k.some(9, "jane"), Token: k.some(9, "mine"),
	}
	if k.IntN(10) == 0 {
		o.AsGroups = []string{"mine"}
	}
	if strings.HasPrefix(o.Server, "http:") {
		o.Token = "" // without TLS, listwatch sends a token but client-go does not
	}
	return o
}

func translate(o *kubeconfig.Options, into *clientcmd.ConfigOverrides) {
	into.CurrentContext = o.Context
	into.Context = api.Context{Cluster: o.Cluster, AuthInfo: o.User}
	into.ClusterInfo = api.Cluster{Server: o.Server, TLSServerName: o.ServerName, CertificateAuthority: o.CAFile, InsecureSkipTLSVerify: o.Insecure}
	into.AuthInfo = api.AuthInfo{Token: o.Token, Impersonate: o.As, ImpersonateGroups: o.AsGroups}
}
