package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// schema describes the fields of a resource's objects, or of one field. The zero schema permits all fields.
type schema struct{ components, node lw.Value }

// schema asks the server for the schema of a resource in OpenAPI v3. It returns the zero schema after an error, because
// the schema only improves messages.
func (s *connection) schema(ctx context.Context, r lw.Resource) (found schema) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // per resource; short, because the watch starts only after the check
	defer cancel()
	api := strings.ReplaceAll("/apis/"+r.Group+"/"+r.Version, "/apis//", "/api/") // the core group has no name
	body, err := s.http.Open(ctx, &lw.Request{Path: "/openapi/v3" + api, Accept: "application/json"})
	if err != nil {
		return found
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 32<<20))
	document, parseErr := lw.ParseValue(text)
	if err != nil || parseErr != nil {
		return found
	}
	// A component names its kind, but the resource has only a plural name. The path of the collection links the two.
	found.components = document.Get("components.schemas")
	kind := document.Get("paths").Member(api + "/" + r.Plural).Get("get.x-kubernetes-group-version-kind.kind").String()
	for _, component := range found.components.Members() {
		of := component.Member("x-kubernetes-group-version-kind").Get("[0]")
		if kind != "" && of.Get("kind").String() == kind && of.Get("group").String() == r.Group && of.Get("version").String() == r.Version {
			found.node = component
		}
	}
	return found
}

// at follows a path and returns the schema there. The step "[]" selects the elements of an array. If a field on the path is
// missing, it returns the schema that lacks the field, and the field's name. Below a field without described properties,
// every field is permitted.
func (s schema) at(path []string) (found schema, missing string) {
	for _, step := range path {
		if properties := s.resolve().node.Member("properties"); step != "[]" && properties.Member(step).Exists() {
			s.node = properties.Member(step)
		} else if more := s.resolve().node.Member(map[bool]string{true: "items", false: "additionalProperties"}[step == "[]"]); more.Exists() {
			s.node = more
		} else if s.resolve().node.Member("x-kubernetes-preserve-unknown-fields").Exists() || !properties.Exists() {
			return schema{}, ""
		} else {
			return s, step
		}
	}
	return s, ""
}

// names returns the names of the fields.
func (s schema) names() (names []string) {
	for name := range s.resolve().node.Member("properties").Members() {
		names = append(names, name)
	}
	return names
}

// resolve follows references to other components. A reference is either the schema itself or wrapped in allOf.
// resolve stops after 100 references, because a broken schema may refer to itself.
func (s schema) resolve() schema {
	for n, name, found := 0, "", true; found && n < 100; n++ {
		name, found = strings.CutPrefix(s.node.Get("allOf[0].$ref").String()+s.node.Member("$ref").String(), "#/components/schemas/")
		if found {
			s.node = s.components.Member(name)
		}
	}
	return s
}

// checkFields returns an error if no resource has a field that --until or --where names, because such a condition would
// probably never hold. If -o names such a field, checkFields only logs it.
func (s *connection) checkFields(ctx context.Context, c *config, resources []lw.Resource, status *status) error {
	var paths [][]string
	for _, condition := range slices.Concat(c.limits.conditions, c.resources.conditions) {
		paths = append(paths, condition.Fields...)
	}
	required := len(paths)
	paths = append(paths, c.output.options.Fields...)
	var schemas []schema
	for i := range min(len(resources), len(paths)*len(resources)) { // without paths, no schema is requested
		schemas = append(schemas, s.schema(ctx, resources[i]))
	}
	for i, path := range paths {
		var err error
		for j, schema := range schemas {
			last, missing := schema.at(path)
			if missing == "" {
				err = nil
				break
			}
			err = fmt.Errorf("%s have no field %s", shortName(resources[j]), strings.ReplaceAll(strings.Join(path, "."), ".[]", "[*]"))
			if near := nearest.Likely(missing, last.names()); len(near) > 0 {
				err = fmt.Errorf("%w: did you mean %s?", err, strings.Join(near, " or "))
			}
		}
		if err != nil && i < required {
			return usageError{err}
		} else if err != nil {
			status.logf("%v", err)
		}
	}
	return nil
}
