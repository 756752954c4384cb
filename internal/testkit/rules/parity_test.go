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
		"Options.Client":             "pages use fetch, which cannot be configured",
		"Options.CAFile":             "the browser decides which authorities to trust",
		"Options.CAData":             "see CAFile",
		"Options.CertFile":           "the browser chooses the certificate",
		"Options.KeyFile":            "see CertFile",
		"Options.CertData":           "see CertFile",
		"Options.KeyData":            "see CertFile",
		"Options.ServerName":         "see CAFile",
		"Options.InsecureSkipVerify": "see CAFile",
		"Options.TokenFile":          "pages cannot read files",
		"Options.CredentialFunc":     "see CertFile; for tokens use TokenFunc",
		"Options.Proxy":              "the browser has its own proxy settings",
		"Credential":                 "see Options.CredentialFunc",
		"Credential.Token":           "see Credential",
		"Credential.CertData":        "see Credential",
		"Credential.KeyData":         "see Credential",
		"Options.UserAgent":          "the browser sets the header",
		"Options.DisableCompression": "browsers always request compression",
		"Options.Credentials":        "native programs have no cookies except those in the cookie jar of Options.Client",
		"Options.Format":             "fmt is too large for a page",
		"Credential.Format":          "see Options.Format",
		"Credential.MarshalJSON":     "see Options.Format",
		"Transport.Format":           "see Options.Format",
		"RedirectedError":            "fetch follows redirects without reporting them",
		"RedirectedError.Origin":     "see RedirectedError",
		"RedirectedError.Err":        "see RedirectedError",
		"RedirectedError.Error":      "see RedirectedError",
		"RedirectedError.Unwrap":     "see RedirectedError",
		"Transport.Upgrade":          "the browser performs the handshake",
		"Transport.Origin":           "see Upgrade",
		"Transport.Address":          "the browser dials the connection",
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
