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

// alone contains the identifiers that a transport may export on only one platform, with the reasons.
var alone = map[string]map[string]string{
	"transport/http": {
		"Options.Client":             "browsers send requests with fetch",
		"Options.CAFile":             "browsers use their own certificate authorities",
		"Options.CAData":             "same reason as CAFile",
		"Options.CertFile":           "browsers choose the client certificate",
		"Options.KeyFile":            "same reason as CertFile",
		"Options.CertData":           "same reason as CertFile",
		"Options.KeyData":            "same reason as CertFile",
		"Options.ServerName":         "same reason as CAFile",
		"Options.InsecureSkipVerify": "same reason as CAFile",
		"Options.TokenFile":          "browsers cannot read local files",
		"Options.CredentialFunc":     "same reason as CertFile; TokenFunc returns tokens",
		"Options.Proxy":              "browsers use their own proxy settings",
		"Credential":                 "same reason as Options.CredentialFunc",
		"Credential.Token":           "same reason as Credential",
		"Credential.CertData":        "same reason as Credential",
		"Credential.KeyData":         "same reason as Credential",
		"Options.DisableCompression": "browsers always request compression",
		"Options.DisableHTTP2":       "browsers choose the protocol",
		"Options.Credentials":        "native clients store cookies only in the jar of Options.Client",
		"Options.Format":             "fmt would make the WASM module too large",
		"Credential.Format":          "same reason as Options.Format",
		"Transport.Format":           "same reason as Options.Format",
		"Transport.Upgrade":          "browsers perform the WebSocket handshake",
		"Transport.Address":          "browsers dial their own connections",
	},
}

func TestTransportsHaveTheSameAPIOnAllPlatforms(t *testing.T) {
	for _, pkg := range []string{"transport/http", "transport/ws", "transport/fallback"} {
		native, js := exported(t, pkg, platforms[0]), exported(t, pkg, platforms[1])
		require.Contains(t, native, "New")
		for name, what := range native {
			if alone[pkg][name] == "" {
				require.Equal(t, what, js[name], "%s: %s must also exist in the browser, with the same type", pkg, name)
			}
		}
		for name := range js {
			require.True(t, alone[pkg][name] != "" || native[name] != "", "%s: %s exists only in the browser", pkg, name)
		}
		for name := range alone[pkg] {
			require.NotEqual(t, native[name] == "", js[name] == "", "%s: %s must exist on exactly one platform", pkg, name)
		}
	}
}

// exported returns a package's exported names and the source code of their types.
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

// add adds an exported name. The value is never empty, because an empty value means that a platform lacks the name.
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
