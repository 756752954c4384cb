package cache

import (
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Origin identifies the collection and the projection of saved objects. A saved state is restored only if its Origin is
// equal.
type Origin struct {
	// Server identifies the cluster. An address alone is not enough, because a rebuilt cluster can reuse it with new
	// resourceVersions. Use the address with a hash of the certificate authority, or the UID of the namespace
	// kube-system.
	Server string

	Resource lw.Resource

	// The selectors of lw.Options.
	LabelSelector, FieldSelector, ShardSelector string

	// Projection identifies the fields that the codec keeps, for example the paths passed to lw.Project. Use "" if it
	// keeps all. Change it with the codec, because the server does not resend unchanged objects.
	Projection string
}

type originField struct{ name, value string }

const originFields = 7

// fields returns the strings of the header, in the order of the format.
func (o *Origin) fields() [originFields]originField {
	return [originFields]originField{
		{"server", o.Server},
		{"resource", o.Resource.String()},
		{"API version", o.Resource.Version},
		{"label selector", o.LabelSelector},
		{"field selector", o.FieldSelector},
		{"shard selector", o.ShardSelector},
		{"projection", o.Projection},
	}
}
