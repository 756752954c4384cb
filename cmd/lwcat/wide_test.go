package main

import (
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// A Table does not name the kind of its objects, but lw accepts only lists of the requested kind. So lwcat must add the
// kind.
func TestWideFormatWithoutStreamingLists(t *testing.T) {
	server := start(t, &lwtest.Options{NoStreamingLists: true})
	create(t, server, "configmaps", named("a"))
	create(t, server, "deployments.apps", `{"metadata":{"name":"a","namespace":"shop"}}`)
	create(t, server, "widgets.lw.example.com", named("a"))
	for resource, want := range map[string]string{
		"configmaps":                                   `^EVENT +NAME.*\nADDED +a `,
		"deployments.apps -n shop":                     `^EVENT +NAME.*\nADDED +a `,
		"widgets.lw.example.com":                       `^EVENT +NAME.*\nADDED +a `,
		"/api/v1/namespaces/default/configmaps":        `^EVENT +NAME.*\nADDED +a `,
		"secrets":                                      `^$`,
		"/apis/apps/v1/namespaces/default/deployments": `^$`,
	} {
		code, out, errs := lwcat(t, append(strings.Fields(resource), "-s", server.URL, "-o", "wide", "--once")...)
		require.Equal(t, exitDone, code, errs)
		require.Regexp(t, want, out, resource)
		require.Empty(t, errs, "lwcat must not report that the server rejects streaming lists")
	}
}
