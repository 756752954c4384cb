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
		"configmaps":                                   `^NAME.*\na `,
		"deployments.apps -n shop":                     `^NAME.*\na `,
		"widgets.lw.example.com":                       `^NAME.*\na `,
		"/api/v1/namespaces/default/configmaps":        `^NAME.*\na `,
		"secrets":                                      `^$`,
		"/apis/apps/v1/namespaces/default/deployments": `^$`,
	} {
		code, out, errs := lwcat(t, append(strings.Fields(resource), "-s", server.URL, "-o", "wide", "--once")...)
		require.Equal(t, exitDone, code, errs)
		require.Regexp(t, want, out, resource)
		require.Empty(t, errs, "lwcat must not report that the server rejects streaming lists")
	}
}
