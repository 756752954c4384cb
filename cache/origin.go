package cache

import (
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Origin says where objects are from, and what was kept of them. A state that was saved is restored only under the same
// Origin.
type Origin struct {
	// Server identifies the cluster, not only its address: a cluster that was made anew under the old address counts its
	// resource versions anew. The address and a hash of its certificate authority do, or the UID of the namespace
	// kube-system.
	Server string

	Resource lw.Resource

	// The selectors, as in lw.Options.
	LabelSelector, FieldSelector, ShardSelector string

	// Form names what the codec keeps, as the paths that lw.Project was given; "" if it keeps all. It must change when the
	// codec does: objects that do not change on the server are not sent again.
	Projection string
}

type originField struct{ name, value string }

const originFields = 7

// fields are the header's texts, in the format's order.
func (o *Origin) fields() [originFields]originField {
	return [originFields]originField{
		{"server", o.Server},
		{"resource", o.Resource.String()},
		{"API version", o.Resource.Version},
		{"label selector", o.LabelSelector},
		{"field selector", o.FieldSelector},
		{"shard selector", o.ShardSelector},
		{"form", o.Projection},
	}
}
