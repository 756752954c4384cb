//go:build !js

package lw_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// A list names its kind before its items. Otherwise items of another collection would reach a store before the list is
// rejected.
func TestProtobufListNeedsKindBeforeItems(t *testing.T) {
	service := field(1, field(1, "web")+field(6, "7"))
	kind, list := field(1, field(1, "v1")+field(2, "ServiceList")), field(2, field(1, field(2, "9"))+field(2, service))
	for name, body := range map[string]string{"kind after the items": list + kind, "no kind": list, "another kind": kind + list} {
		t.Run(name, func(t *testing.T) {
			client, err := lw.NewClient(file("k8s\x00"+body), lw.Pods(""), sizes{}, nil)
			require.NoError(t, err)
			objects := 0
			for _, failure := range client.List(t.Context(), lw.ListOptions{}, &lw.ListMeta{}) {
				if err = failure; err == nil {
					objects++
				}
			}
			require.ErrorIs(t, err, lw.ErrInvalidResponse)
			require.Zero(t, objects)
		})
	}
}
