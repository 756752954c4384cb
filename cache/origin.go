package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// selectors contains the selectors from lw.Options. They determine which objects a store can hold.
type selectors struct{ label, field, shard string }

func selectorsOf(opts *lw.Options) selectors {
	return selectors{opts.LabelSelector, opts.FieldSelector, opts.ShardSelector}
}

type originField struct{ name, value string }

const originFields = 4

// fields returns the fields that identify the collection in a saved state, in the order of the header.
func (s *selectors) fields(origin string) [originFields]originField {
	return [originFields]originField{
		{"origin", origin},
		{"label selector", s.label},
		{"field selector", s.field},
		{"shard selector", s.shard},
	}
}
