package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// selectors are the selectors of a store's source.
type selectors struct{ label, field, shard string }

func selectorsOf(opts *lw.Options) selectors {
	return selectors{opts.LabelSelector, opts.FieldSelector, opts.ShardSelector}
}

type originField struct{ name, value string }

const originFields = 4

// fields returns the strings in the header of a saved state, in the order of the format.
func (s *selectors) fields(origin string) [originFields]originField {
	return [originFields]originField{
		{"origin", origin},
		{"label selector", s.label},
		{"field selector", s.field},
		{"shard selector", s.shard},
	}
}
