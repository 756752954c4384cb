package main

import "go/token"

// kind is what a mutant gets wrong.
type kind int

const (
	negated kind = iota
	moved
	arithmetic
	logical
	leftOut
	truth
	bits
	kinds // how many there are
)

var kindNames = [kinds]string{
	"a comparison is negated",
	"a comparison's boundary moves: `<` and `<=`, `>` and `>=`",
	"`+` and `-`, `*` and `/`; a sign; `++` and `--`",
	"`&&` and `\\|\\|`",
	"a call, an assignment or a defer is left out",
	"`true` and `false`",
	"`&` and `\\|`, `<<` and `>>`, …",
}

// operator is what is made of an operator of two operands: a func of package switches, and its mutants.
type operator struct {
	does string
	to   []change
}

type change struct {
	kind kind
	to   string
}

var operators = map[token.Token]operator{
	token.EQL:     {"Not", []change{{negated, "!="}}},
	token.NEQ:     {"Not", []change{{negated, "=="}}},
	token.LSS:     {"Less", []change{{moved, "<="}, {negated, ">="}}},
	token.LEQ:     {"LessOrEqual", []change{{moved, "<"}, {negated, ">"}}},
	token.GTR:     {"Greater", []change{{moved, ">="}, {negated, "<="}}},
	token.GEQ:     {"GreaterOrEqual", []change{{moved, ">"}, {negated, "<"}}},
	token.ADD:     {"Add", []change{{arithmetic, "-"}}},
	token.SUB:     {"Sub", []change{{arithmetic, "+"}}},
	token.MUL:     {"Mul", []change{{arithmetic, "/"}}},
	token.QUO:     {"Div", []change{{arithmetic, "*"}}},
	token.REM:     {"Rem", []change{{arithmetic, "*"}}},
	token.LAND:    {"And", []change{{logical, "||"}}},
	token.LOR:     {"Or", []change{{logical, "&&"}}},
	token.AND:     {"BitAnd", []change{{bits, "|"}}},
	token.OR:      {"BitOr", []change{{bits, "&"}}},
	token.XOR:     {"BitXor", []change{{bits, "&"}}},
	token.AND_NOT: {"BitClear", []change{{bits, "&"}}},
	token.SHL:     {"ShiftLeft", []change{{bits, ">>"}}},
	token.SHR:     {"ShiftRight", []change{{bits, "<<"}}},
}
