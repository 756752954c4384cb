//go:build !js

package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func load(flags *kubeflags.Options) (*kubeflags.Config, error) {
	if flags == nil {
		flags = &kubeflags.Options{}
	}
	opts := (*options)(flags)
	m, err := opts.merge()
	if err != nil {
		return nil, err
	}
	l := &loader{options: opts, mergedFiles: m, config: &kubeflags.Config{HTTP: &lwhttp.Options{UserAgent: opts.UserAgent}}}
	if err := l.context(); err != nil {
		return nil, err
	}
	if l.config.Cluster == "" && opts.Server == "" {
		if config, err := opts.inCluster(l.config); config != nil || err != nil {
			return config, err
		}
		return nil, l.errNoServer()
	}
	for _, step := range []func() error{l.cluster, l.user, l.validate} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l.config, nil
}

// loader builds a Config from the kubeconfig files and the options.
type loader struct {
	*options
	*mergedFiles
	config *kubeflags.Config

	server        *entry // entry of the cluster, or nil
	clusterFields *fields
}

// context selects the context, the cluster, the user and the namespace, and stores their names in the configuration.
func (l *loader) context() error {
	c := l.config
	c.Context, c.Cluster, c.User, c.Namespace = l.Context, l.Cluster, l.User, l.Namespace
	missing := &Error{}
	if c.Context == "" {
		c.Context = l.current.text
		missing = &Error{File: l.current.file, field: "current-context"}
	}
	if c.Context != "" {
		found, err := l.find("context", c.Context)
		if err != nil {
			missing.err = err
			return missing
		}
		fields := found.fields()
		c.Cluster = cmp.Or(c.Cluster, fields.string("cluster"))
		c.User = cmp.Or(c.User, fields.string("user"))
		c.Namespace = cmp.Or(c.Namespace, fields.string("namespace"))
		if err := fields.err(); err != nil {
			return err
		}
		if c.Cluster == "" && l.Server == "" {
			fields.fail("cluster", nil, "the value is missing")
			return fields.err()
		}
	}
	c.Namespace = cmp.Or(c.Namespace, "default")
	return nil
}

// unknownError returns an Error for a missing context, cluster or user. If an option contains the missing name, the
// Error has no location.
func (l *loader) unknownError(kind string, option string, err error) error {
	if option != "" {
		return &Error{err: err}
	}
	place := l.entries["context"][l.config.Context].location()
	place.field, place.err = kind, err
	return place
}

func (l *loader) errNoServer() error {
	switch {
	case len(l.files) == 0:
		return fmt.Errorf("%w: there is no kubeconfig at %s", ErrNowhere, strings.Join(l.shortPaths(), ", "))
	case len(l.entries["context"]) == 0:
		return fmt.Errorf("%w: there is no context in %s", ErrNowhere, strings.Join(l.shortPaths(), ", "))
	}
	return fmt.Errorf("%w: there is no current-context; %s", ErrNowhere, suggest("", l.names("context")))
}

func (l *loader) shortPaths() (paths []string) {
	for _, path := range l.paths() {
		paths = append(paths, short(path))
	}
	return paths
}

// validate checks the server URL and the options in the configuration.
func (l *loader) validate() error {
	transport, err := lwhttp.New(l.config.Server, l.config.HTTP)
	if err == nil {
		transport.Close()
		return nil
	}
	place := &Error{err: errors.New(strings.TrimPrefix(err.Error(), "http: "))}
	if l.server != nil && l.Server == "" {
		place.File, place.Entry, place.field = l.server.file, l.server.location().Entry, "server"
	}
	return place
}
