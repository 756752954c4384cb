package lwtest

import (
	"maps"
	"reflect"
	"strings"
)

// manage updates metadata.managedFields of f. Each field manager owns the fields that it changed last. Fields are
// compared only at the first two levels.
func manage(res *Resource, old, f fields, manager string, now string) {
	meta := f["metadata"].(fields)
	present, changed := owned(f, nil), owned(f, old)
	entries, _ := meta["managedFields"].([]any)
	mine := changed
	var kept []any
	for _, e := range entries {
		entry := e.(fields)
		set := entry["fieldsV1"].(fields)
		if text(entry, "manager") == manager && text(entry, "subresource") == "" {
			mine = union(intersect(set, present), changed)
			continue
		}
		if set = subtract(intersect(set, present), changed); len(set) > 0 {
			entry["fieldsV1"] = set
			kept = append(kept, entry)
		}
	}
	if len(mine) > 0 {
		kept = append(kept, managedEntry(res, manager, now, mine))
	}
	delete(meta, "managedFields")
	if len(kept) > 0 {
		meta["managedFields"] = kept
	}
}

func managedEntry(res *Resource, manager string, now string, set fields) fields {
	return fields{
		"manager": manager, "operation": "Update", "apiVersion": res.apiVersion(),
		"time": now, "fieldsType": "FieldsV1", "fieldsV1": set,
	}
}

// owned returns the fields in which f differs from old, in the fieldsV1 format.
func owned(f, old fields) fields {
	set := fields{}
	for key, value := range f {
		switch key {
		case "kind", "apiVersion":
		case "metadata":
			was, _ := old["metadata"].(fields)
			for _, part := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
				add(set, "f:metadata", part, value.(fields)[part], was[part])
			}
		default:
			addTree(set, key, value, old[key])
		}
	}
	return set
}

func add(set fields, parent, key string, value, was any) {
	sub := fields{}
	addTree(sub, key, value, was)
	if len(sub) == 0 {
		return
	}
	if set[parent] == nil {
		set[parent] = fields{}
	}
	set[parent].(fields)["f:"+key] = sub["f:"+key]
}

func addTree(set fields, key string, value, was any) {
	if value == nil || reflect.DeepEqual(value, was) {
		return
	}
	leaf := fields{}
	if children, ok := value.(fields); ok {
		before, _ := was.(fields)
		if before == nil {
			leaf["."] = fields{}
		}
		for child, v := range children {
			if !reflect.DeepEqual(v, before[child]) {
				leaf["f:"+child] = fields{}
			}
		}
	}
	set["f:"+key] = leaf
}

func union(a, b fields) fields {
	out := maps.Clone(a)
	for key, value := range b {
		if have, ok := out[key].(fields); ok {
			out[key] = union(have, value.(fields))
		} else {
			out[key] = value
		}
	}
	return out
}

// intersect returns the fields of a that are also in b.
func intersect(a, b fields) fields {
	out := fields{}
	for key, value := range a {
		if other, ok := b[key].(fields); ok {
			out[key] = intersect(value.(fields), other)
		}
	}
	return out
}

// subtract returns the fields of a that are not in b. It omits parents that become empty.
func subtract(a, b fields) fields {
	out := fields{}
	for key, value := range a {
		other, ok := b[key].(fields)
		if !ok {
			out[key] = value
			continue
		}
		if rest := subtract(value.(fields), other); len(rest) > 0 && strings.HasPrefix(key, "f:") {
			out[key] = rest
		}
	}
	return out
}
