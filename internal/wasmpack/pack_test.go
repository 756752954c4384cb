package wasmpack

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/need"
	"github.com/stretchr/testify/require"
)

// module has one section before the data, and one behind them.
func module(segments ...segment) []byte {
	content := appendSegments(nil, segments)
	m := append([]byte(header), 1, 2, 'a', 'b', dataSection)
	m = append(binary.AppendUvarint(m, uint64(len(content))), content...)
	return append(m, 0, 3, 'x', 'y', 'z')
}

func TestJoinsWhatIsNear(t *testing.T) {
	for name, c := range map[string]struct{ from, to []segment }{
		"none":                     {nil, nil},
		"neighbours":               {[]segment{{100, []byte("ab")}, {102, []byte("c")}}, []segment{{100, []byte("abc")}}},
		"zeros between":            {[]segment{{100, []byte("ab")}, {105, []byte("c")}, {107, []byte("d")}}, []segment{{100, []byte("ab\x00\x00\x00c\x00d")}}},
		"a gap that is too wide":   {[]segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}, []segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}},
		"out of order":             {[]segment{{100, []byte("ab")}, {50, []byte("c")}}, []segment{{100, []byte("ab")}, {50, []byte("c")}}},
		"one over another":         {[]segment{{100, []byte("ab")}, {101, []byte("c")}}, []segment{{100, []byte("ab")}, {101, []byte("c")}}},
		"addresses of every width": {[]segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1 << 31, []byte("c")}}, []segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1 << 31, []byte("c")}}},
	} {
		packed, err := Pack(module(c.from...))
		require.NoError(t, err, name)
		require.Equal(t, module(c.to...), packed, name)
	}
}

func TestRefusesWhatGoDoesNotWrite(t *testing.T) {
	good := module(segment{100, []byte("ab")})
	for cut := range good {
		if section := cut == len(header) || cut == len(header)+4 || cut == len(good)-5; !section {
			_, err := Pack(good[:cut])
			require.ErrorIs(t, err, errShape, "cut at %d", cut)
		}
	}
	passive := append([]byte(header), dataSection, 4, 1, 1, 1, 'a')
	_, err := Pack(passive)
	require.ErrorIs(t, err, errShape)
	_, err = Pack(append([]byte(header), dataCount, 1, 1))
	require.ErrorIs(t, err, errShape)
	_, err = Pack(append([]byte(header), dataSection, 2, 0, 0))
	require.ErrorIs(t, err, errShape, "more follows the last segment")
}

// TestPackedProgramRuns packs a program of maps, texts and variables, and sees the same output in fewer segments.
func TestPackedProgramRuns(t *testing.T) {
	node := need.Program(t, "node", "with Node 20 or later: go test ./internal/wasmpack")
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	runner := filepath.Join(string(goroot[:len(goroot)-1]), "lib", "wasm", "wasm_exec_node.js")
	plain, packed := filepath.Join(t.TempDir(), "plain.wasm"), filepath.Join(t.TempDir(), "packed.wasm")
	build := exec.Command("go", "build", "-o", plain, "./testdata/program")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	from, err := os.ReadFile(plain)
	require.NoError(t, err)
	to, err := Pack(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(packed, to, 0o666))

	run := func(file string) string {
		out, err := exec.Command(node, runner, file).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, run(plain), run(packed))
	require.Contains(t, run(packed), "three 3 zwölf")
	require.Less(t, segmentsOf(t, to), 100)
	require.Greater(t, segmentsOf(t, from), 10_000)
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
