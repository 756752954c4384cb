package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// client describes a list-watch client and how the suite runs it.
type client struct {
	Name string   `json:"name"`
	Ours bool     `json:"ours"` // whether the client belongs to this project; a failure of such a client without a note fails the suite
	Run  []string `json:"run"`  // the command
	Env  []string `json:"env"`
	// WebSocket is true if the client can watch over WebSocket. Only such clients run the trials with a ws:// URL.
	WebSocket bool `json:"webSocket"`
	// Needs is a command that fails if a program that the client needs is missing. Install is the command that installs it.
	Needs   []string `json:"needs"`
	Install string   `json:"install"`
	// Notes explain known failures. If a client of another project fails and has no note for this failure, the failure
	// appears as "not checked", because the suite itself may be wrong. A note shows that a person has verified the
	// failure.
	Notes []note `json:"notes"`
	// NotesOf is the name of an earlier client in the file. The notes of that client also apply to this one.
	NotesOf string `json:"notesOf"`

	missing bool // Needs has failed
}

// supports reports whether the client can run a trial.
func (c *client) supports(t *trial) bool { return t.scheme != "ws" || c.WebSocket }

// note explains failures of a client.
type note struct {
	Trials   string `json:"trials"`   // regular expression that matches the whole name of a trial
	Property string `json:"property"` // regular expression that matches the name of the violated property
	Says     string `json:"says"`     // the explanation
}

// outcome is the result of one trial of one client. The zero value means that the trial was skipped.
type outcome struct {
	ran       bool
	failed    string // name of the first property that the client violated, or ""
	violation string // how the client violated it
	version   string // version of the client, or "" if the driver does not print it
}

// note returns the number of the note for a failure, counted from 1, or 0 if there is none.
func (c *client) note(t *trial, failed string) int {
	for i, n := range c.Notes {
		if regexp.MustCompile("^(" + n.Trials + ") (" + n.Property + ")$").MatchString(t.Name + " " + failed) {
			return i + 1
		}
	}
	return 0
}

// results contains the outcomes of all clients, by the client's name and the trial's name.
type results map[string]map[string]outcome

const (
	beginMark = "<!--results-->"
	endMark   = "<!--end of results-->"
)

// write replaces the part of a document between two marks with the results.
func (s *settings) write(file string, clients []*client, trials []*trial, found results) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !ok || !ended {
		return fmt.Errorf("%s has no part between %s and %s", file, beginMark, endMark)
	}
	return os.WriteFile(file, []byte(before+beginMark+"\n"+s.report(clients, trials, found)+endMark+after), 0o644)
}

// report returns the results in Markdown.
func (s *settings) report(clients []*client, trials []*trial, found results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThese results come from seed %d and the command `%s`.\n\n| client | version | passed | failed or not checked | skipped or not supported |\n| --- | --- | ---: | ---: | ---: |\n", s.seed, s.command)
	for _, c := range clients {
		count, version := map[string]int{}, ""
		for _, t := range trials {
			o := found[c.Name][t.Name]
			version = max(version, o.version) // the same in all trials, or "" in skipped ones
			count[c.cell(t, o, nil)]++
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", c.Name, cmp.Or(version, "this version"), count["pass"], len(trials)-count["pass"]-count["skipped"]-count["not supported"], count["skipped"]+count["not supported"])
	}
	b.WriteString("\n| property | meaning |\n| --- | --- |\n")
	for _, p := range properties {
		fmt.Fprintf(&b, "| %s | %s |\n", p.Name, p.Says)
	}
	var notes []string
	header, line := "\n| the server |", "| --- |"
	for _, c := range clients {
		header, line = header+" "+c.Name+" |", line+" --- |"
	}
	fmt.Fprintf(&b, "%s\n%s\n", header, line)
	for _, t := range trials {
		fmt.Fprintf(&b, "| [%s](%s): %s |", t.Name, t.Source, t.Does)
		for _, c := range clients {
			fmt.Fprintf(&b, " %s |", c.cell(t, found[c.Name][t.Name], &notes))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, says := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, says)
	}
	b.WriteString("\nThe suite does not check these properties, because the server makes it impossible to keep them:\n\n")
	for _, t := range trials {
		for _, name := range slices.Sorted(maps.Keys(excused[t.Name])) {
			fmt.Fprintf(&b, "- %s with the server %s: %s\n", name, t.Name, excused[t.Name][name])
		}
	}
	return b.String()
}

// cell returns the table's cell for an outcome. If a note explains the failure and notes is not nil, cell adds the note
// to notes and refers to it by number. Equal notes share a number.
func (c *client) cell(t *trial, o outcome, notes *[]string) string {
	number := c.note(t, o.failed)
	switch {
	case !c.supports(t):
		return "not supported"
	case !o.ran:
		return "skipped"
	case o.failed == "":
		return "pass"
	case number == 0 && !c.Ours:
		return "not checked"
	case number == 0 || notes == nil:
		return o.failed
	}
	says := c.Notes[number-1].Says
	if !slices.Contains(*notes, says) {
		*notes = append(*notes, says)
	}
	return fmt.Sprintf("%s (%d)", o.failed, slices.Index(*notes, says)+1)
}
