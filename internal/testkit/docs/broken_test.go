//go:build unix

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokenBlocksFail(t *testing.T) {
	cases := []struct{ fence, text, wrong string }{
		{"go", "client.Lost(ctx)\n", "doc.md:2: client.Lost undefined"},
		{"go", "client, err := lw.NewClient(transport)\n", "not enough arguments"},
		{"go", "for {\n", "expected '}'"},
		{"go", "package main\n\nfunc main() { unused := 1 }\n", "declared and not used"},
		{"go", "import \"example.com/nothing\"\n\nnothing.Do()\n", "example.com/nothing"},
		{"go nowhere", "client.Lost(ctx)\n", "no test compiles Go blocks for the module nowhere"},
		{"perl", "print 1;\n", "unknown language perl"},
		{"", "print 1\n", "unknown language"},
		{"console lik", "$ true\n", "unknown block info lik"},
		{"json", "{]\n", "invalid character"},
		{"yaml", "a: b: c\n", "not allowed"},
		{"console", "true\n", `no line starts with "$ "`},
		{"console", "$ lwcat --once nodes -o name\nnode/n2\n", "node/n1"},
		{"console", "$ lwcat --once nodes -o name\nnode/n1\nnode/n2\n", "node/n1"},
		{"console", "$ lwcat --nonce nodes\n", "unknown flag: --nonce"},
		{"console", "$ lwcat --once nothings\n", "exit status 1"},
		{"console", "$ lwcat nothings\n", "exit status 1"},
		{"console like", "$ lwcat --once nodes -o line\nADDED Node n2\n", "n1"},
		{"sh", "false\n", "exit status 1"},
		{"console", "$ make tset\n", "no target tset"},
		{"console", "$ make sim SEDS=1\n", "the Makefile has no variable SEDS"},
		{"console", "$ go run ./examples/nothing\n", "no package examples/nothing"},
		{"console", "$ cd bench && go run ./nothing\n", "no package bench/nothing"},
		{"console", "$ go test ./lw -run TestOfNothing\n", "lw has no TestOfNothing"},
	}
	var blocks []Block
	for _, c := range cases {
		parsed, err := Parse("doc.md", fence+c.fence+"\n"+c.text+fence+"\n")
		require.NoError(t, err)
		blocks = append(blocks, parsed...)
	}
	compiler, err := NewCompiler(root, Module{Names: Names(), Given: Given()}, blocks)
	require.NoError(t, err)
	s := newScene(t, build(t))
	for i, c := range cases {
		require.ErrorContains(t, complaint(s, compiler, blocks[i]), c.wrong, "%s %q", c.fence, c.text)
	}
	_, err = Parse("doc.md", fence+"go\n")
	require.ErrorContains(t, err, "no closing fence")
}

func complaint(s *scene, compiler *Compiler, b Block) error {
	if err := checkFence(b); err != nil {
		return err
	}
	switch b.Language {
	case "go":
		return compiler.Check(b)
	case "console", "sh":
		return s.play(b)
	default:
		return parses(b)
	}
}
