package output

import "github.com/seed-6d2a410a/listwatch/lw"

// color is a terminal color as SGR parameters.
type color string

const (
	noColor color = ""
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	faint   color = "2"
)

// colorize wraps a string in a color if colors are enabled.
func (o *Options) colorize(c color, text string) string {
	if !o.Color || c == noColor || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func typeColor(t lw.EventType) color {
	switch t {
	case lw.Added:
		return green
	case lw.Modified:
		return yellow
	case lw.Deleted:
		return red
	}
	return faint
}
