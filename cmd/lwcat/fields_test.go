package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestSchemaThatRefersToItselfEnds(t *testing.T) {
	components, err := lw.ParseValue([]byte(`{"a":{"$ref":"#/components/schemas/b"},"b":{"allOf":[{"$ref":"#/components/schemas/a"}]}}`))
	require.NoError(t, err)
	broken := schema{components, components.Member("a")}
	require.Empty(t, broken.names())
	_, missing := broken.at([]string{"status", "phase"})
	require.Empty(t, missing, "a broken schema must permit all fields")
}
