// Package docs tests the documentation. Its tests compile the Go code in all Markdown files and run the commands. They
// also check that every test, error message and file that a document mentions exists. CONTRIBUTING.md describes the
// rules.
//
// The exported functions find code blocks and compile Go blocks. The tests of other modules call them for blocks that
// need the dependencies of these modules.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Block is a fenced code block in a Markdown file.
type Block struct {
	File     string // path of the Markdown file, relative to the repository's root
	Line     int    // line number of the first line after the opening fence
	Language string // for example "go"
	Info     string // rest of the opening fence after the language
	Text     string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d", b.File, b.Line) }

// Files returns the paths of all Markdown files under root. Each path starts with root.
func Files(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			switch entry.Name() {
			case "node_modules", "testdata", "bin", ".git":
				return fs.SkipDir
			}
		case filepath.Ext(path) == ".md":
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// Read returns the code blocks of all Markdown files under root.
func Read(root string) (blocks []Block, err error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := Parse(strings.TrimPrefix(filepath.ToSlash(file), root+"/"), string(text))
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, found...)
	}
	return blocks, nil
}

const fence = "```"

// Parse returns the code blocks in text, the content of a Markdown file. It removes the indentation of blocks in lists.
func Parse(file, text string) (blocks []Block, err error) {
	var open *Block
	indent, at := "", 0
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, fence):
			indent = line[:len(line)-len(bare)]
			language, info, _ := strings.Cut(bare[len(fence):], " ")
			open = &Block{File: file, Line: at + 1, Language: language, Info: strings.TrimSpace(info)}
		case open != nil && strings.TrimSpace(line) == fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the code block has no closing fence", open)
	}
	return blocks, nil
}
