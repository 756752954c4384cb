package sample

import (
	"fmt"
	"strings"
)

// Definition returns the JSON of a CustomResourceDefinition with a name such as "widgets.example.com". It defines a
// namespaced resource. columns is a JSON array of printer columns, or "".
func Definition(name, version, kind, columns string) string {
	plural, group, _ := strings.Cut(name, ".")
	if columns == "" {
		columns = "[]"
	}
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"kind":%q},`+
		`"versions":[{"name":%q,"served":true,"storage":true,"additionalPrinterColumns":%s}]}}`, name, group, plural, kind, version, columns)
}
