package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// operator returns what becomes of an expression. Texts are joined by no other operator, and types are no values.
func (m *mutator) operator(n *ast.BinaryExpr) (operator, bool) {
	value := m.info.Types[n]
	if !value.IsValue() {
		return operator{}, false
	}
	if is(value.Type, types.IsString) {
		return operator{}, false
	}
	found, ok := operators[n.Op]
	return found, ok
}

func is(typ types.Type, what types.BasicInfo) bool {
	basic, ok := typ.Underlying().(*types.Basic)
	return ok && basic.Info()&what != 0
}

// truth returns the contrary of true and false.
func (m *mutator) truth(n *ast.Ident) (contrary string, ok bool) {
	switch m.info.Uses[n] {
	case types.Universe.Lookup("true"):
		return "false", true
	case types.Universe.Lookup("false"):
		return "true", true
	}
	return "", false
}

// mustBeConstant tells where no call may stand, so that mutants would need a compilation of their own.
func (m *mutator) mustBeConstant(n ast.Node, within []ast.Node) bool {
	if len(within) > 0 {
		switch parent := within[len(within)-1].(type) {
		case *ast.ArrayType:
			if n == parent.Len {
				return true
			}
		case *ast.KeyValueExpr: // an element's index, in arrays and slices
			if n == parent.Key && m.info.Types[parent.Key].Value != nil {
				return true
			}
		}
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST
	case *ast.BinaryExpr:
		return m.tooLarge(n, n.X, n.Y)
	case *ast.UnaryExpr:
		return m.tooLarge(n, n.X)
	}
	return false
}

// tooLarge tells whether operands of a constant may be of no type, as the 1<<64 of uint64(1<<64 - 1).
func (m *mutator) tooLarge(n ast.Expr, operands ...ast.Expr) bool {
	if m.info.Types[n].Value == nil {
		return false
	}
	for _, operand := range append(operands, n) {
		if _, literal := operand.(*ast.BasicLit); !literal && is(m.info.TypeOf(operand), types.IsUntyped) {
			return !is(m.info.TypeOf(operand), types.IsBoolean)
		}
	}
	return false
}

// count counts the mutants of such a place, had it any.
func (m *mutator) count(n ast.Node) (all int) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			operator, _ := m.operator(n)
			all += len(operator.to)
		case *ast.UnaryExpr:
			if n.Op == token.SUB {
				all++
			}
		case *ast.Ident:
			if _, ok := m.truth(n); ok {
				all++
			}
		}
		return true
	})
	return all
}

// removable tells whether a statement may be left out: it stands among others, declares nothing, and is no panic, behind which
// Go expects nothing.
func removable(n, parent ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	case *ast.CommClause:
		if parent.Comm == n {
			return false
		}
	default:
		return false
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	}
	return true
}

// constantOf is the type argument where all operands are constants, whose type nothing else would tell.
func (m *mutator) constantOf(n ast.Expr, operands ...ast.Expr) string {
	for _, operand := range operands {
		if m.info.Types[operand].Value == nil {
			return ""
		}
	}
	return "[" + m.name(m.info.TypeOf(n)) + "]"
}

// name is a type as the package writes it.
func (m *mutator) name(typ types.Type) string {
	return types.TypeString(types.Default(typ), func(other *types.Package) string {
		if other == m.pkg {
			return ""
		}
		return other.Name()
	})
}
