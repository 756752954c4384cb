package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// streamError is the error that ended the stream of a resource.
type streamError struct {
	resource lw.Resource
	error
}

func (e *streamError) Error() string { return e.resource.String() + ": " + e.error.Error() }
func (e *streamError) Unwrap() error { return e.error }

// forbiddenHint explains status 403. It names the user that the server checked, and a command that repeats the check.
func (s *connection) forbiddenHint(err error, status *lw.StatusError, sent string) string {
	resource := status.Kind
	if status.Group != "" {
		resource += "." + status.Group
	}
	if strings.Contains(status.Message, "cannot impersonate") {
		return fmt.Sprintf("the server accepted %s, but the user it identifies needs a role that allows the verb impersonate for %s; check with kubectl auth can-i impersonate %[2]s%s", sent, resource, s.kubectlFlags())
	}
	where, impersonated := "", ""
	if failed, ok := errors.AsType[*streamError](err); ok {
		namespace := failed.resource.Namespace
		if _, rest, found := strings.Cut(failed.resource.Raw, "/namespaces/"); found {
			namespace, _, _ = strings.Cut(rest, "/")
		}
		where = " --all-namespaces"
		if namespace != "" {
			where = " --namespace " + shellQuote(namespace)
		}
	}
	subject := "the server accepted " + sent + ", but the user it identifies"
	for _, user := range s.HTTP.Header["Impersonate-User"] {
		subject = fmt.Sprintf("the impersonated user %q", user)
		impersonated = " --as " + shellQuote(user)
	}
	for _, group := range s.HTTP.Header["Impersonate-Group"] {
		impersonated += " --as-group " + shellQuote(group)
	}
	return fmt.Sprintf("%s needs a role that allows the verbs list and watch for %s; check with kubectl auth can-i watch %[2]s%s%s%s", subject, resource, where, s.kubectlFlags(), impersonated)
}

// kubectlFlags returns the flags that make kubectl use the same connection as lwcat. It hides the token.
func (s *connection) kubectlFlags() (flags string) {
	for _, f := range [][2]string{{"kubeconfig", s.flags.Path}, {"context", s.Context}, {"cluster", s.flags.Cluster}, {"user", s.flags.User}, {"server", s.flags.Server}} {
		if f[1] != "" {
			flags += " --" + f[0] + " " + shellQuote(f[1])
		}
	}
	if s.flags.Token != "" {
		flags += " --token TOKEN"
	}
	return flags
}

// shellQuote quotes text unless a shell would read it as one literal word.
func shellQuote(text string) string {
	if isWord(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
