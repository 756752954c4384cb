package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mutant is one small mistake.
type mutant struct {
	number       int // from 1
	file         string
	line, column int
	kind         kind
	change       string // "< → <="
	text         string // of the line
	came         outcome
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s   %s", m.file, m.line, m.column, m.change, m.text)
}

// mutator makes mutants of a package, file by file.
type mutator struct {
	files    *token.FileSet
	info     *types.Info
	pkg      *types.Package
	source   *source // of the file that it is at
	mutants  []*mutant
	constant int // operators that were left alone, as only a compilation of their own could change them
}

// mutate writes the mutants of a file into its source.
func (m *mutator) mutate(source *source, tree *ast.File) {
	m.source = source
	before := len(m.mutants)
	ast.PreorderStack(tree, nil, m.visit)
	if len(m.mutants) > before {
		m.source.wrap(m.at(tree.Name.End()), m.at(tree.Name.End()), "; import mutants_ \""+switches+"\"", "")
	}
}

func (m *mutator) visit(n ast.Node, within []ast.Node) bool {
	if m.mustBeConstant(n, within) {
		m.constant += m.count(n)
		return false
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			first := m.add(n.OpPos, n.Op.String(), change{arithmetic, "+"})
			m.call(n, "Neg"+m.constantOf(n, n.X), first)
			m.source.replace(m.at(n.OpPos), n.Op, "")
		}
	case *ast.Ident:
		if contrary, ok := m.truth(n); ok {
			m.call(n, "Not", m.add(n.Pos(), n.Name, change{truth, contrary}))
		}
	case *ast.IncDecStmt:
		to, does := "--", " += "
		if n.Tok == token.DEC {
			to, does = "++", " -= "
		}
		first := m.add(n.TokPos, n.Tok.String(), change{arithmetic, to})
		m.source.replace(m.at(n.TokPos), n.Tok, fmt.Sprintf("%smutants_.One[%s](%d)", does, m.name(m.info.TypeOf(n.X)), first))
	case *ast.ExprStmt, *ast.DeferStmt, *ast.AssignStmt:
		if len(within) > 0 && removable(n, within[len(within)-1]) {
			first := m.add(n.Pos(), "", change{leftOut, ""})
			m.source.wrap(m.at(n.Pos()), m.at(n.End()), fmt.Sprintf("if !mutants_.On(%d) { ", first), " }")
		}
	}
	return true
}

func (m *mutator) binary(n *ast.BinaryExpr) {
	operator, ok := m.operator(n)
	if !ok {
		return
	}
	first := m.add(n.OpPos, n.Op.String(), operator.to...)
	switch n.Op {
	case token.EQL, token.NEQ:
		m.call(n, operator.does, first)
	case token.LAND, token.LOR:
		m.source.wrap(m.at(n.Pos()), m.at(n.End()), fmt.Sprintf("mutants_.%s(%d, ", operator.does, first), ") })")
		m.source.replace(m.at(n.OpPos), n.Op, ", func() bool { return (")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		m.call(n, operator.does+m.constantOf(n.X, n.X, n.Y), first)
		m.source.replace(m.at(n.OpPos), n.Op, ",")
	case token.SHL, token.SHR:
		m.call(n, operator.does+m.constantOf(n, n.X), first)
		m.source.replace(m.at(n.OpPos), n.Op, ",")
	default:
		m.call(n, operator.does+m.constantOf(n, n.X, n.Y), first)
		m.source.replace(m.at(n.OpPos), n.Op, ",")
	}
}

// add notes the mutants of one place, and returns the number of the first.
func (m *mutator) add(pos token.Pos, from string, to ...change) int {
	at := m.files.Position(pos)
	for _, change := range to {
		made := &mutant{
			number: len(m.mutants) + 1, file: m.source.name, line: at.Line, column: at.Column, kind: change.kind, change: "left out",
			text: strings.TrimSpace(m.source.lines[at.Line-1]),
		}
		if change.kind != leftOut {
			made.change = from + " → " + change.to
		}
		m.mutants = append(m.mutants, made)
	}
	return len(m.mutants) - len(to) + 1
}

// call makes a node an argument of one of the switches' funcs.
func (m *mutator) call(n ast.Node, does string, first int) {
	m.source.wrap(m.at(n.Pos()), m.at(n.End()), fmt.Sprintf("mutants_.%s(%d, ", does, first), ")")
}

func (m *mutator) at(pos token.Pos) int { return m.files.Position(pos).Offset }
