//go:build !js

package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// load is [Load] with the overrides of a command line.
func load(flags *kubeflags.Options) (*kubeflags.Config, error) {
	if flags == nil {
		flags = &kubeflags.Options{}
	}
	opts := (*options)(flags)
	m, err := opts.merge()
	if err != nil {
		return nil, err
	}
	p := &pick{options: opts, merged: m, config: &kubeflags.Config{HTTP: &lwhttp.Options{UserAgent: opts.UserAgent}}}
	if err := p.context(); err != nil {
		return nil, err
	}
	if p.config.Cluster == "" && opts.Server == "" {
		if config, err := opts.inCluster(p.config); config != nil || err != nil {
			return config, err
		}
		return nil, p.nowhere()
	}
	for _, step := range []func() error{p.cluster, p.user, p.check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.config, nil
}

// pick takes what counts from the files and from the options.
type pick struct {
	*options
	*merged
	config *kubeflags.Config

	server        *entry  // the cluster's, or nil
	clusterFields *fields // its
}

// context finds the context, and the names that it brings.
func (p *pick) context() error {
	c := p.config
	c.Context, c.Cluster, c.User, c.Namespace = p.Context, p.Cluster, p.User, p.Namespace
	missing := &Error{}
	if c.Context == "" {
		c.Context = p.current.text
		missing = &Error{File: p.current.file, Field: "current-context"}
	}
	if c.Context != "" {
		found, err := p.find("context", c.Context)
		if err != nil {
			missing.Err = err
			return missing
		}
		fields := found.fields()
		c.Cluster = cmp.Or(c.Cluster, fields.text("cluster"))
		c.User = cmp.Or(c.User, fields.text("user"))
		c.Namespace = cmp.Or(c.Namespace, fields.text("namespace"))
		if err := fields.err(); err != nil {
			return err
		}
		if c.Cluster == "" && p.Server == "" {
			fields.fail("cluster", nil, "it is missing")
			return fields.err()
		}
	}
	c.Namespace = cmp.Or(c.Namespace, "default")
	return nil
}

// unknown says that the context, or an option, names something that there is not.
func (p *pick) unknown(kind string, option string, err error) error {
	if option != "" {
		return &Error{Err: err}
	}
	place := p.entries["context"][p.config.Context].place()
	place.Field, place.Err = kind, err
	return place
}

// nowhere says what would name a server.
func (p *pick) nowhere() error {
	switch {
	case len(p.files) == 0:
		return fmt.Errorf("%w: there is no kubeconfig at %s", ErrNowhere, strings.Join(p.shortPaths(), ", "))
	case len(p.entries["context"]) == 0:
		return fmt.Errorf("%w: there is no context in %s", ErrNowhere, strings.Join(p.shortPaths(), ", "))
	}
	return fmt.Errorf("%w: there is no current-context; %s", ErrNowhere, there(nearest.To("", p.names("context"))))
}

func (p *pick) shortPaths() (paths []string) {
	for _, path := range p.paths() {
		paths = append(paths, short(path))
	}
	return paths
}

// check finds what no other step has found: what is wrong with the URL.
func (p *pick) check() error {
	transport, err := lwhttp.New(p.config.Server, p.config.HTTP)
	if err == nil {
		transport.Close()
		return nil
	}
	place := &Error{Err: errors.New(strings.TrimPrefix(err.Error(), "http: "))}
	if p.server != nil && p.Server == "" {
		place.File, place.Entry, place.Field = p.server.file, p.server.place().Entry, "server"
	}
	return place
}
