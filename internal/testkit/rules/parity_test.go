package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// alone lists the API that a transport has on only one platform, with the reason.
var alone = map[string]map[string]string{
	"transport/http": {
		"Options.Client":             "a page has fetch, and nothing to configure it",
		"Options.CAFile":             "a page trusts the authorities of its browser",
		"Options.CAData":             "as CAFile",
		"Options.CertFile":           "a browser chooses the certificate",
		"Options.KeyFile":            "as CertFile",
		"Options.CertData":           "as CertFile",
		"Options.KeyData":            "as CertFile",
		"Options.ServerName":         "as CAFile",
		"Options.InsecureSkipVerify": "as CAFile",
		"Options.TokenFile":          "a page has no files",
		"Options.CredentialFunc":     "as CertFile; for a token there is TokenFunc",
		"Options.Proxy":              "a browser has its own",
		"Credential":                 "as Options.CredentialFunc",
		"Credential.Token":           "as Credential",
		"Credential.CertData":        "as Credential",
		"Credential.KeyData":         "as Credential",
		"Options.UserAgent":          "a page has its browser's",
		"Options.DisableCompression": "a browser always asks for it",
		"Options.Credentials":        "natively there are no cookies but those of a Client's jar",
		"Options.Format":             "fmt is too large for a page",
		"Credential.Format":          "as Options.Format",
		"Credential.MarshalJSON":     "as Options.Format",
		"Transport.Format":           "as Options.Format",
		"Transport.Upgrade":          "a page leaves the handshake to its browser",
		"Transport.Origin":           "as Upgrade",
		"Transport.Address":          "a browser dials connections by itself",
	},
	"transport/ws": {"Options.Compression": "the browser negotiates compression"},
}

func TestTransportsHaveTheSameAPIOnAllPlatforms(t *testing.T) {
	for _, pkg := range []string{"transport/http", "transport/ws", "transport/fallback"} {
		native, js := exported(t, pkg, platforms[0]), exported(t, pkg, platforms[1])
		require.Contains(t, native, "New")
		for name, what := range native {
			if alone[pkg][name] == "" {
				require.Equal(t, what, js[name], "%s: %s in the browser", pkg, name)
			}
		}
		for name := range js {
			require.True(t, alone[pkg][name] != "" || native[name] != "", "%s: %s exists only in the browser", pkg, name)
		}
		for name := range alone[pkg] {
			require.NotEqual(t, native[name] == "", js[name] == "", "%s: %s exists on both platforms or on neither", pkg, name)
		}
	}
}

// exported returns the exported names of a package with the source code of their types.
func exported(t *testing.T, pkg string, platform []string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, file := range goList(t, platform, "-f", `{{join .GoFiles " "}}`, "./"+pkg) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, pkg, file), nil, 0)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				add(names, receiver(decl)+decl.Name.Name, decl.Type)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					addSpec(names, spec)
				}
			}
		}
	}
	return names
}

func addSpec(names map[string]string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			add(names, name.Name, spec.Type)
		}
	case *ast.TypeSpec:
		fields, isStruct := spec.Type.(*ast.StructType)
		if !isStruct {
			add(names, spec.Name.Name, spec.Type)
			return
		}
		add(names, spec.Name.Name, nil)
		for _, field := range fields.Fields.List {
			for _, name := range field.Names {
				if spec.Name.IsExported() && name.IsExported() {
					add(names, spec.Name.Name+"."+name.Name, field.Type)
				}
			}
		}
	}
}

func add(names map[string]string, name string, typ ast.Node) {
	if !ast.IsExported(name) {
		return
	}
	var text bytes.Buffer
	text.WriteString("exported ")
	if typ != nil {
		_ = printer.Fprint(&text, token.NewFileSet(), typ)
	}
	names[name] = text.String()
}

// receiver returns "T." for a method of T or *T, and "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil || !decl.Name.IsExported() {
		return ""
	}
	typ := decl.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name + "."
}
