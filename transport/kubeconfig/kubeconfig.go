//go:build !js

package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options contains settings that select or override entries of the kubeconfig, like the flags of kubectl. The zero
// value behaves like kubectl without flags.
type Options struct {
	Path string // path of the kubeconfig file, which must exist; if empty, the files listed in $KUBECONFIG, or ~/.kube/config

	Context string // name of a context; by default the current context
	Cluster string // name of a cluster; by default the cluster of the context
	User    string // name of a user; by default the user of the context

	// Server is the URL of the server. The certificate authority, the proxy and the credentials still come from the
	// kubeconfig.
	Server string
	// ServerName is the host name to verify in the server's certificate. If Server is set, the kubeconfig's
	// tls-server-name is ignored.
	ServerName string
	CAFile     string // PEM file; overrides the certificate authority and insecure-skip-tls-verify of the cluster
	Insecure   bool   // skips verification of the server's certificate; cannot be combined with CAFile

	Token    string   // bearer token, which is sent even over http; overrides all credentials of the user
	As       string   // user to impersonate; overrides the impersonated user and groups of the kubeconfig
	AsGroups []string // groups to impersonate; overrides the groups of the kubeconfig

	// Stderr receives the messages of credential plugins, such as a login code or the reason for a failure. If Stderr is
	// nil, plugins write to the standard error of the process, as with kubectl. Plugins can read standard input if it is a
	// terminal.
	Stderr io.Writer

	// ServiceAccount is the folder with the files token, ca.crt and namespace of a Pod's service account. By default, it
	// is the folder where Kubernetes mounts them. Set it if the Pod mounts a projected token in another folder.
	ServiceAccount string
}

// Config is the result of [Load]: a server, a namespace and the credentials for the server.
type Config struct {
	Server    string          // URL of the server
	Namespace string          // namespace, or "default" if the kubeconfig does not set it
	Context   string          // name of the context, or ""
	Cluster   string          // name of the cluster, or ""
	User      string          // name of the user, or ""
	HTTP      *lwhttp.Options // credentials and TLS options for lwhttp.New; may be changed before that call
}

// Connect returns a transport for the selected context, and the namespace of this context. opts may be nil. Connect
// sends nothing and runs no plugin. It returns the errors of [Load].
func Connect(opts *Options) (transport *lwhttp.Transport, namespace string, err error) {
	config, err := Load(opts)
	if err != nil {
		return nil, "", err
	}
	transport, err = lwhttp.New(config.Server, config.HTTP)
	return transport, config.Namespace, err
}

// Load returns the configuration that [Connect] uses, so that a program can inspect or change it first. Pass its fields
// Server and HTTP to lwhttp.New. opts may be nil. Load returns an *[Error] for a mistake in the selected entries, such
// as an unreadable file or a missing plugin. It returns [ErrNowhere] if the kubeconfig names no server.
func Load(opts *Options) (*Config, error) {
	l := newLoader(opts)
	l.selectContext()
	c := l.config
	switch {
	case l.err != nil:
	case c.Cluster != "" || l.Server != "":
		l.cluster(l.find("cluster", c.Cluster, l.Cluster, l.Server != ""))
		l.user(l.find("user", c.User, l.User, l.Token != ""))
	case l.inPod():
		account := l.serviceAccount()
		l.cluster(account)
		l.user(account)
	default:
		return nil, l.errNoServer()
	}
	if l.err != nil {
		return nil, l.err
	}
	// New validates the URLs of the server and the proxy, which the steps above do not check.
	if transport, err := lwhttp.New(c.Server, c.HTTP); err == nil {
		transport.Close()
	} else {
		err = errors.New(strings.TrimPrefix(err.Error(), "http: "))
		if l.Server != "" {
			return nil, &Error{err: err}
		}
		l.clusterFields.fail("", err.Error())
		return nil, l.err
	}
	return c, nil
}

// Names returns the sorted names of the contexts, clusters and users in the kubeconfig, for example for shell
// completion. It ignores all options except Path, runs no plugins and reads no other files. opts may be nil.
func Names(opts *Options) (contexts, clusters, users []string, err error) {
	l := newLoader(opts)
	if l.err != nil {
		return nil, nil, nil, l.err
	}
	return l.names("context"), l.names("cluster"), l.names("user"), nil
}

// loader builds a Config from the kubeconfig files and the options.
type loader struct {
	*Options
	config *Config
	err    *Error // the first mistake, which Load returns; the methods continue after it

	files []string // paths of the files that exist
	// entries contains functions that read an entry, by kind and name. Only the entries in use are read, so that mistakes
	// in other entries are ignored.
	entries     map[string]map[string]func() *fields
	current     string // name of the current context
	currentFile string // file that sets the current context

	context       Error   // location of the context, for errors about the names in it
	clusterFields *fields // fields of the cluster, for clusterInfo and errors
}

// fail records a mistake. It ignores the mistake if an earlier one is already recorded.
func (l *loader) fail(mistake Error) {
	if l.err == nil {
		l.err = &mistake
	}
}

// selectContext stores the names of the context, the cluster, the user and the namespace in the configuration.
func (l *loader) selectContext() {
	c := l.config
	c.Context = cmp.Or(l.Context, l.current)
	fields := l.find("context", c.Context, l.Context, false)
	l.context = fields.at
	c.Cluster = cmp.Or(l.Cluster, fields.string("cluster"))
	c.User = cmp.Or(l.User, fields.string("user"))
	c.Namespace = cmp.Or(fields.string("namespace"), "default")
	if c.Context != "" && c.Cluster == "" && l.Server == "" {
		fields.fail("cluster", "the value is missing")
	}
}

// find returns the fields of the entry with this name, or empty fields if name is "". `option` is the name from the
// caller's options, or "". An unknown name is normally a mistake. `optional` is set if the caller's options replace the
// entry. An unknown name is then a mistake only if it comes from the options.
func (l *loader) find(kind, name, option string, optional bool) *fields {
	if entry := l.entries[kind][name]; entry != nil {
		return entry()
	}
	if name != "" && (option != "" || !optional) {
		at := Error{File: l.currentFile, field: "current-context"}
		switch {
		case option != "":
			at = Error{} // a name in the options has no location
		case kind != "context":
			at = l.context
			at.field = kind
		}
		at.err = fmt.Errorf("there is no %s %q%s", kind, name, suggest(name, l.names(kind)))
		l.fail(at)
	}
	return l.read(nil, Error{})
}

// errNoServer returns an ErrNowhere that says why the kubeconfig names no server.
func (l *loader) errNoServer() error {
	var paths []string
	for _, path := range l.paths() {
		paths = append(paths, short(path))
	}
	switch {
	case len(l.files) == 0:
		return fmt.Errorf("%w: there is no kubeconfig at %s", ErrNowhere, strings.Join(paths, ", "))
	case len(l.entries["context"]) == 0:
		return fmt.Errorf("%w: there is no context in %s", ErrNowhere, strings.Join(paths, ", "))
	}
	return fmt.Errorf("%w: there is no current-context%s", ErrNowhere, suggest("", l.names("context")))
}

// account returns the path of the file with this name in the folder of the Pod's service account.
func (l *loader) account(name string) string {
	return filepath.Join(cmp.Or(l.ServiceAccount, "/var/run/secrets/kubernetes.io/serviceaccount"), name)
}

// inPod reports whether the process runs in a Pod with a service account. It also returns true if the account cannot be
// read, so that the method serviceAccount can report the reason.
func (l *loader) inPod() bool {
	info, err := os.Stat(l.account("token"))
	missing := errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir()
	return !missing && os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBERNETES_SERVICE_PORT") != ""
}

// serviceAccount returns the Pod's service account as the fields of a cluster and a user, and sets the namespace.
func (l *loader) serviceAccount() *fields {
	account := l.values(Error{Entry: "service account"}, map[string]string{
		"server":                "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")),
		"certificate-authority": l.account("ca.crt"),
		"tokenFile":             l.account("token"),
	})
	l.config.Namespace = os.Getenv("POD_NAMESPACE")
	if l.config.Namespace == "" {
		text, err := os.ReadFile(l.account("namespace"))
		if !errors.Is(err, fs.ErrNotExist) {
			// This error must not be ignored, because the program would then use the namespace "default", whose objects may
			// belong to others.
			account.failIf("namespace", err)
		}
		l.config.Namespace = cmp.Or(strings.TrimSpace(string(text)), "default")
	}
	return account
}
