package output

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Screen is a Format that keeps one row per object for repeated drawing. It marks recent changes and deletions. It is
// safe for concurrent use.
type Screen struct {
	opts *Options
	row  func(*Event) row

	mu      sync.Mutex
	rows    map[string]*screenRow // by screenKey
	message string
}

type screenRow struct {
	event Event
	cells row
}

// markDuration is how long a change stays marked.
const markDuration = 3 * time.Second

// NewScreen returns a screen of the rows that a format prints, or an error if it prints none.
func NewScreen(format Format, opts *Options) (*Screen, error) {
	t, ok := format.(*table)
	if people, is := format.(lineFormat); is {
		t, ok = people.table, true
	}
	if !ok {
		return nil, errors.New("--redraw needs -o line, wide or custom-columns")
	}
	return &Screen{opts: opts, row: t.row, rows: map[string]*screenRow{}}, nil
}

// Print implements [Format].
func (s *Screen) Print(_ *bufio.Writer, e *Event) {
	cells := s.row(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[screenKey(e)] = &screenRow{event: *e, cells: cells}
}

// screenKey returns a key that sorts by resource, namespace and name.
func screenKey(e *Event) string {
	key := e.Object.Key()
	return e.Resource + "\x00" + key.Namespace + "\x00" + key.Name
}

// Tell shows a message on the last line.
func (s *Screen) Tell(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.message = Plain(strings.TrimSpace(message))
}

// Lines returns the content of the screen: at most height lines of at most width columns.
func (s *Screen) Lines(now time.Time, width, height int) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.rows, func(_ string, r *screenRow) bool {
		return r.event.Type == lw.Deleted && now.Sub(r.event.Time) >= markDuration
	})
	keys := slices.Sorted(maps.Keys(s.rows))
	body := s.body(now, keys)
	there := 0
	for _, r := range s.rows {
		if r.event.Type != lw.Deleted {
			there++
		}
	}
	room := max(0, height-2)
	if len(body) > room {
		hidden := len(body) - max(0, room-1)
		body = append(body[:max(0, room-1)], fmt.Sprintf("  … %d more lines", hidden))
	}
	lines = append(lines, truncate(countObjects(there)+" at "+now.Format(time.TimeOnly), width))
	for _, line := range body[:min(len(body), room)] {
		mark, _ := utf8.DecodeRuneInString(line)
		lines = append(lines, s.opts.colorize(markColors[mark], truncate(line, width)))
	}
	if s.message != "" && len(lines) < height {
		lines = append(lines, s.opts.colorize(faint, truncate(s.message, width)))
	}
	return lines
}

func countObjects(objects int) string {
	if objects == 1 {
		return "1 object"
	}
	return strconv.Itoa(objects) + " objects"
}

var markColors = map[rune]color{'+': green, '~': yellow, '-': red}

// body returns the rows with their marks. It adds a header line where the columns change.
func (s *Screen) body(now time.Time, keys []string) (lines []string) {
	var c *columns
	for i, key := range keys {
		r := s.rows[key].render(s, now)
		if c == nil || !slices.Equal(c.headers, r.headers) {
			c = &columns{headers: r.headers, widths: make([]int, len(r.headers))}
			c.widen(r.headers)
			for _, other := range keys[i:] {
				if cells := s.rows[other].cells; slices.Equal(cells.headers, c.headers) {
					c.widen(cells.cells)
				}
			}
			lines = append(lines, "  "+c.line(r.headers, nil, s.opts))
		}
		lines = append(lines, s.rows[key].mark(now)+" "+c.line(r.cells, nil, s.opts))
	}
	return lines
}

// render returns the row with current ages.
func (r *screenRow) render(s *Screen, now time.Time) row {
	e := r.event
	e.Time = now
	r.cells = s.row(&e)
	return r.cells
}

func (r *screenRow) mark(now time.Time) string {
	if now.Sub(r.event.Time) >= markDuration {
		return " "
	}
	return map[lw.EventType]string{lw.Added: "+", lw.Modified: "~", lw.Deleted: "-"}[r.event.Type]
}

func truncate(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width)])
}
