package sample

import "io"

// Events returns n watch events of type MODIFIED, each with another Pod. Equal seeds return equal events.
func Events(seed uint64, n int) []byte {
	var text []byte
	for _, pod := range Pods(seed, n) {
		text = append(text, pod.Event("MODIFIED")...)
	}
	return text
}

// Loop returns a reader that repeats text without end. The text must not be empty.
func Loop(text []byte) io.Reader { return &loop{text: text} }

type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	if l.at += n; l.at == len(l.text) {
		l.at = 0
	}
	return n, nil
}
