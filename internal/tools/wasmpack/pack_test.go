package wasmpack

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/stretchr/testify/require"
)

// module returns a wasm module with a section before and a section after the data section. Addresses have five bytes,
// like in packed modules.
func module(segments ...segment) []byte {
	content := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		content = append(content, 0, opI32Const, byte(s.at)|0x80, byte(s.at>>7)|0x80, byte(s.at>>14)|0x80, byte(s.at>>21)|0x80, byte(s.at>>28), opEnd)
		content = append(binary.AppendUvarint(content, uint64(len(s.data))), s.data...)
	}
	return append(modules(dataSection, content), 0, 3, 'x', 'y', 'z')
}

// modules returns a wasm module with a section before the given section.
func modules(id byte, content []byte) []byte {
	m := append([]byte(header), 1, 2, 'a', 'b', id)
	return append(binary.AppendUvarint(m, uint64(len(content))), content...)
}

func TestJoinsCloseSegments(t *testing.T) {
	for name, c := range map[string]struct{ from, to []segment }{
		"none":                         {nil, nil},
		"neighbours":                   {[]segment{{100, []byte("ab")}, {102, []byte("c")}}, []segment{{100, []byte("abc")}}},
		"zeros between segments":       {[]segment{{100, []byte("ab")}, {105, []byte("c")}, {107, []byte("d")}}, []segment{{100, []byte("ab\x00\x00\x00c\x00d")}}},
		"wide gap":                     {[]segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}, []segment{{100, []byte("ab")}, {103 + widest, []byte("c")}}},
		"segments out of order":        {[]segment{{100, []byte("ab")}, {50, []byte("c")}}, []segment{{100, []byte("ab")}, {50, []byte("c")}}},
		"overlap":                      {[]segment{{100, []byte("ab")}, {101, []byte("c")}}, []segment{{100, []byte("ab")}, {101, []byte("c")}}},
		"addresses of various lengths": {[]segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1<<31 - 1, []byte("c")}}, []segment{{63, []byte("a")}, {1 << 13, []byte("b")}, {1<<31 - 1, []byte("c")}}},
	} {
		packed, err := Pack(module(c.from...))
		require.NoError(t, err, name)
		require.Equal(t, module(c.to...), packed, name)
	}
	packed, err := Pack(append(modules(dataSection, []byte{2, 0, opI32Const, 0x3f, opEnd, 1, 'a', 0, opI32Const, 0xc0, 0, opEnd, 1, 'b'}), 0, 3, 'x', 'y', 'z'))
	require.NoError(t, err)
	require.Equal(t, module(segment{63, []byte("ab")}), packed, "short addresses must be read")
}

func TestRejectsModulesOfOtherCompilers(t *testing.T) {
	good := module(segment{100, []byte("ab")})
	for cut := range good {
		if section := cut == len(header) || cut == len(header)+4 || cut == len(good)-5; !section {
			_, err := Pack(good[:cut])
			require.ErrorIs(t, err, errShape, "module truncated at byte %d", cut)
		}
	}
	for name, module := range map[string][]byte{
		"passive segment":         modules(dataSection, []byte{1, 1, 1, 'a'}),
		"negative address":        modules(dataSection, []byte{1, 0, opI32Const, 0x80, 0x80, 0x80, 0x80, 0x78, opEnd, 1, 'a'}),
		"address from a variable": modules(dataSection, []byte{1, 0, 0x23, 0, opEnd, 1, 'a'}),
		"number of segments":      modules(dataCount, []byte{1}),
		"data after the segments": modules(dataSection, []byte{0, 0}),
	} {
		_, err := Pack(module)
		require.ErrorIs(t, err, errShape, name)
	}
}

// functionTable returns a function table with one function. stack, file, line and others are the offsets of the
// function's pc-value tables.
func functionTable(values []byte, startLine uint32, stack, file, line uint32, others ...uint32) string {
	const header = 72
	u32, u64 := binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	table := append([]byte(nil), tableStart...)
	for _, n := range []int{1, 1, 0, header, header, header, header, header + len(values)} {
		table = u64(table, uint64(n))
	}
	table = append(table, values...)
	table = u32(u32(table, 7), 8) // address of the function and offset of its description
	for _, n := range []uint32{7, 6, 5, 4, stack, file, line, uint32(len(others)), 3, startLine, 0x02010003} {
		table = u32(table, n)
	}
	for _, n := range others {
		table = u32(table, n)
	}
	return string(table)
}

func TestClearsLines(t *testing.T) {
	all := []byte{0 /* 1 */, 2, 4, 0 /* 4 */, 0, 130, 1, 3, 1, 0 /* 10 */, 9, 9, 0 /* 13 */, 0, 1, 0}
	kept := []byte{0, 2, 4, 0, 0, 130, 1, 3, 1, 0, 0, 0, 0, 0, 1, 0}
	packed, err := Pack(module(segment{100, []byte("before" + functionTable(all, 77, 1, 4, 10, 4, 0, 13))}))
	require.NoError(t, err)
	require.Equal(t, module(segment{100, []byte("before" + functionTable(kept, 0, 1, 0, 0, 4, 0, 13))}), packed)
}

func TestRejectsMalformedFunctionTables(t *testing.T) {
	good := functionTable([]byte{0, 2, 4, 0}, 77, 1, 0, 0, 1)
	_, err := Pack(module(segment{100, []byte(good)}))
	require.NoError(t, err)
	malformed := map[string]string{
		"table without a terminator":     functionTable([]byte{0, 2, 4}, 77, 1, 0, 0),
		"offset after the last table":    functionTable([]byte{0, 2, 4, 0}, 77, 1, 0, 0, 9),
		"pc-value tables that overflow":  strings.Replace(good, "\x4c\x00", "\xff\xff", 1),
		"pc-value tables after the rest": strings.Replace(good, "\x4c\x00", "\x00\x00", 1),
	}
	for cut := len(tableStart); cut < len(good); cut++ {
		malformed[fmt.Sprintf("table truncated at byte %d", cut)] = good[:cut]
	}
	for name, table := range malformed {
		_, err := Pack(module(segment{100, []byte(table)}))
		require.ErrorIs(t, err, errShape, name)
	}
}

// The program is this package's own test binary. The results of its other tests depend on much initial data, so a wrong
// segment would make them fail.
func TestPackedProgramRuns(t *testing.T) {
	from, to := programs(t)
	args := []string{"-test.v", "-test.run", "^Test(Joins|Rejects|Clears)"}
	plain, ended := run(t, from, args...)
	require.True(t, ended, plain)
	packed, ended := run(t, to, args...)
	require.True(t, ended, packed)
	times := regexp.MustCompile(`\d+\.\d+s`)
	require.Equal(t, times.ReplaceAllString(plain, ""), times.ReplaceAllString(packed, ""))
	require.Contains(t, packed, "--- PASS: TestRejectsMalformedFunctionTables")
	require.Less(t, segmentsOf(t, to), uint64(100))
	require.Greater(t, segmentsOf(t, from), uint64(10_000))
}

func TestPackedProgramPrintsFunctionNamesInTraces(t *testing.T) {
	from, to := programs(t)
	plain, ended := run(t, from, "-test.run", "^TestPanics$", "panic")
	require.False(t, ended)
	packed, ended := run(t, to, "-test.run", "^TestPanics$", "panic")
	require.False(t, ended)
	require.Contains(t, plain, "pack_test.go:")
	require.NotContains(t, packed, ".go:")
	require.Contains(t, packed, "panic: bottom")
	calls := regexp.MustCompile(`(?m)^[\w.*/()]+\(`)
	require.Contains(t, packed, "wasmpack.fall(")
	require.Equal(t, calls.FindAllString(plain, -1), calls.FindAllString(packed, -1))
}

// TestPanics runs as a separate program, before and after Pack. [TestPackedProgramPrintsFunctionNamesInTraces] compares
// the traces that the two programs print.
func TestPanics(t *testing.T) {
	if os.Args[len(os.Args)-1] == "panic" {
		fall(10000, "bottom")
	}
}

// fall panics at the bottom of a deep stack, after a garbage collection.
func fall(depth int, text string) string {
	if depth == 0 {
		runtime.GC()
		panic(text)
	}
	return fall(depth-1, text) + text
}

// programs returns this package's tests as a wasm module, before and after Pack.
func programs(t *testing.T) (from, to []byte) {
	file := filepath.Join(t.TempDir(), "plain.wasm")
	build := exec.Command("go", "test", "-c", "-o", file)
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

// segmentsOf returns the number of data segments of a module.
func segmentsOf(t *testing.T, module []byte) uint64 {
	for in := reader(module[len(header):]); len(in) > 0; {
		id := in.byte()
		if content := reader(in.bytes(in.number())); id == dataSection {
			return content.number()
		}
	}
	return 0
}
