package wasmpack

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/stretchr/testify/require"
)

// module returns a wasm module with a section before and a section after the data section.
func module(segments ...segment) []byte {
	content := appendSegments(nil, segments)
	m := append([]byte(header), 1, 2, 'a', 'b', dataSection)
	m = append(binary.AppendUvarint(m, uint64(len(content))), content...)
	return append(m, 0, 3, 'x', 'y', 'z')
}

func TestJoinsCloseSegments(t *testing.T) {
	for name, c := range map[string]struct{ from, to []segment }{
		"none":                         {nil, nil},
		"neighbours":                   {[]segment{{100, []byte("ab")}, {102, []byte("c")}}, []segment{{100, []byte("abc")}}},
		"zeros between segments":       {[]segment{{100, []byte("ab")}, {105, []byte("c")}, {107, []byte("d")}}, []segment{{100, []byte("ab\x00\x00\x00c\x00d")}}},
		"wide gap":                     {[]segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}, []segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}},
		"segments out of order":        {[]segment{{100, []byte("ab")}, {50, []byte("c")}}, []segment{{100, []byte("ab")}, {50, []byte("c")}}},
		"overlap":                      {[]segment{{100, []byte("ab")}, {101, []byte("c")}}, []segment{{100, []byte("ab")}, {101, []byte("c")}}},
		"addresses of various lengths": {[]segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1 << 31, []byte("c")}}, []segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1 << 31, []byte("c")}}},
	} {
		packed, err := Pack(module(c.from...))
		require.NoError(t, err, name)
		require.Equal(t, module(c.to...), packed, name)
	}
}

func TestRejectsModulesOfOtherCompilers(t *testing.T) {
	good := module(segment{100, []byte("ab")})
	for cut := range good {
		if section := cut == len(header) || cut == len(header)+4 || cut == len(good)-5; !section {
			_, err := Pack(good[:cut])
			require.ErrorIs(t, err, errShape, "module truncated at byte %d", cut)
		}
	}
	passive := append([]byte(header), dataSection, 4, 1, 1, 1, 'a')
	_, err := Pack(passive)
	require.ErrorIs(t, err, errShape)
	_, err = Pack(append([]byte(header), dataCount, 1, 1))
	require.ErrorIs(t, err, errShape)
	_, err = Pack(append([]byte(header), dataSection, 2, 0, 0))
	require.ErrorIs(t, err, errShape, "data after the last segment must be rejected")
}

func TestPackedProgramRuns(t *testing.T) {
	from, to := programs(t)
	plain, ended := run(t, from)
	require.True(t, ended)
	packed, ended := run(t, to)
	require.True(t, ended)
	require.Equal(t, plain, packed)
	require.Contains(t, packed, "three 3 zwölf")
	require.Less(t, segmentsOf(t, to), 100)
	require.Greater(t, segmentsOf(t, from), 10_000)
}

func TestPackedProgramPrintsFunctionNamesInTraces(t *testing.T) {
	from, to := programs(t)
	plain, ended := run(t, from, "panic")
	require.False(t, ended)
	packed, ended := run(t, to, "panic")
	require.False(t, ended)
	require.Contains(t, plain, "testdata/program/main.go:")
	require.NotContains(t, packed, ".go:")
	require.Contains(t, packed, "panic: bottom")
	calls := regexp.MustCompile(`(?m)^[\w.*/()]+\(`)
	require.Contains(t, packed, "main.fall(")
	require.Equal(t, calls.FindAllString(plain, -1), calls.FindAllString(packed, -1))
}

// programs returns the compiled program of testdata/program before and after Pack.
func programs(t *testing.T) (from, to []byte) {
	file := filepath.Join(t.TempDir(), "plain.wasm")
	build := exec.Command("go", "build", "-o", file, "./testdata/program")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	from, err = os.ReadFile(file)
	require.NoError(t, err)
	to, err = Pack(from)
	require.NoError(t, err)
	return from, to
}

// run runs a program in Node. It returns the output of the program and whether it exited without an error.
func run(t *testing.T, program []byte, args ...string) (output string, ended bool) {
	node := need.Program(t, "node", "install Node 20 or later")
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	runner := filepath.Join(string(goroot[:len(goroot)-1]), "lib", "wasm", "wasm_exec_node.js")
	file := filepath.Join(t.TempDir(), "program.wasm")
	require.NoError(t, os.WriteFile(file, program, 0o666))
	out, err := exec.Command(node, append([]string{runner, file}, args...)...).CombinedOutput()
	return string(out), err == nil
}

func segmentsOf(t *testing.T, module []byte) int {
	for in := (reader{rest: module[len(header):]}); len(in.rest) > 0; {
		id := in.byte()
		if content := in.bytes(in.unsigned()); id == dataSection {
			segments, err := readSegments(content)
			require.NoError(t, err)
			return len(segments)
		}
	}
	return 0
}
