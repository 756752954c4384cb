// Command prose prints the paths of the files that Vale checks, one per line.
//
//	go run ./internal/tools/prose            the files that internal/tools/prose/enforced.txt names
//	go run ./internal/tools/prose lw/*.go    the named files
//
// For a Markdown file, it prints the path unchanged. For a Go file, it prints the path of a copy in bin/prose. The copy
// contains only the comments, on the same lines as in the source.
package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	files, err := os.Args[1:], error(nil)
	if len(files) == 0 {
		files, err = enforced("internal/tools/prose/enforced.txt")
	}
	for _, file := range files {
		var path string
		if path, err = extract(file); err != nil {
			break
		}
		fmt.Println(path)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// enforced reads glob patterns from a file and returns the paths of the matching files. A pattern without a match is an
// error.
func enforced(list string) (files []string, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	for pattern := range strings.Lines(string(text)) {
		if pattern = strings.TrimSpace(pattern); pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s: no file matches %q", list, pattern)
		}
		files = append(files, found...)
	}
	return files, nil
}

// extract returns the path of the file that Vale checks for a source file. For Go, this is a copy that extract writes.
func extract(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if filepath.Ext(file) == ".md" {
		return file, nil
	}
	lines, err := comments(file, string(text))
	if err != nil {
		return "", err
	}
	copied := filepath.Join("bin", "prose", file+".txt")
	if err := os.MkdirAll(filepath.Dir(copied), 0o777); err != nil {
		return "", err
	}
	return copied, os.WriteFile(copied, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// comments returns the comments of a Go file. The element at index i contains the text of line i+1.
func comments(name, text string) ([]string, error) {
	lines := make([]string, strings.Count(text, "\n")+1)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		if output.MatchString(group.Text()) {
			continue
		}
		said := ""
		for _, comment := range group.List {
			said += directive.ReplaceAllString(comment.Text, "") + "\n"
		}
		place(lines, files.Position(group.Pos()).Line, said)
	}
	return lines, nil
}

var (
	directive = regexp.MustCompile(`(?m)^\s*//(go:|[a-z]+:[a-z]|\t).*`)
	output    = regexp.MustCompile(`^(Output|Unordered output):`)
	marks     = regexp.MustCompile(`^\s*(//|/\*+|\*/)|\*/\s*$`)
)

// place stores text, without comment markers, in the slice lines. start is the line number of the first line of text.
// place ends the text with a full stop, because Vale joins adjacent lines.
func place(lines []string, start int, text string) {
	last := -1
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(marks.ReplaceAllString(line, "")); line != "" && start <= len(lines) {
			last = start - 1
			lines[last] = strings.TrimSpace(lines[last] + " " + line)
		}
		start++
	}
	if last >= 0 {
		lines[last] = strings.TrimRight(lines[last], ".") + "."
	}
}
