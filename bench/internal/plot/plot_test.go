package plot

import (
	"encoding/xml"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func example() Figure {
	return Figure{
		Title: "Processor time of a store's operation & the number of objects", Note: "ns, by < objects", Columns: 2,
		Panels: []Panel{
			{Title: "get", X: Axis{Label: "objects"}, Y: Axis{Unit: Nanoseconds}, Lines: []Line{
				{Name: "listwatch", Points: []Point{{1000, 90}, {10_000, 120}, {100_000, 380}, {1_000_000, 800}}},
				{Name: "client-go", Colour: Theirs, Points: []Point{{1000, 120}, {10_000, 180}, {100_000, 440}, {1_000_000, 830}}},
				{Name: "memory", Colour: Muted, Dashed: true, Points: []Point{{1000, 2}, {10_000, 9}, {100_000, 40}, {1_000_000, 95}}},
			}},
			{Title: "none", X: Axis{Label: "objects", Linear: true}, Y: Axis{Unit: Bytes, Linear: true}},
			{Title: "share", X: Axis{Linear: true}, Y: Axis{Unit: Share, Linear: true, Max: 1}, Lines: []Line{
				{Name: "one", Points: []Point{{0, 0}, {5, 0.4}, {10, math.NaN()}}},
			}},
		},
	}
}

// texts returns all of a figure's texts, in order. It fails if the figure is no XML.
func texts(t *testing.T, svg []byte) (found []string) {
	decoder, inText := xml.NewDecoder(strings.NewReader(string(svg))), false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.CharData:
			if inText {
				found = append(found, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func TestAFigureIsXMLWithTitlesTicksAndNames(t *testing.T) {
	found := texts(t, example().SVG())
	require.Equal(t, []string{"Processor time of a store's operation & the number of objects", "ns, by < objects", "get"}, found[:3])
	for _, expected := range []string{"1 ns", "100 ns", "1 µs", "1k", "10k", "1M", "listwatch", "client-go", "memory", "0 B", "100 %", "objects"} {
		require.Contains(t, found, expected)
	}
	require.NotContains(t, string(example().SVG()), "NaN")
}

func TestAFigureIsTheSameEachTime(t *testing.T) {
	require.Equal(t, example().SVG(), example().SVG())
}

func TestPlacesOnALogarithmicScaleAreEvenlySpaced(t *testing.T) {
	s := Axis{}.scale([]float64{1000, 1_000_000})
	s.from, s.to = 0, 300
	require.InDelta(t, 0, s.place(1000), 1e-9)
	require.InDelta(t, 100, s.place(10_000), 1e-9)
	require.InDelta(t, 300, s.place(1_000_000), 1e-9)
}

func TestAScaleBeginsAndEndsAtTicks(t *testing.T) {
	for _, c := range []struct {
		axis     Axis
		values   []float64
		min, max float64
		ticks    []float64
	}{
		{Axis{}, []float64{90, 830}, 50, 1000, []float64{50, 100, 200, 500, 1000}},
		{Axis{}, []float64{2, 830}, 1, 1000, []float64{1, 10, 100, 1000}},
		{Axis{}, []float64{40, 3100}, 30, 10_000, []float64{30, 100, 300, 1000, 3000, 10_000}},
		{Axis{}, []float64{7}, 2, 20, []float64{2, 5, 10, 20}},
		{Axis{}, nil, 0.5, 2, []float64{0.5, 1, 2}},
		{Axis{Linear: true}, []float64{3, 42}, 0, 50, []float64{0, 10, 20, 30, 40, 50}},
		{Axis{Linear: true, Max: 1}, []float64{0.3}, 0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Axis{}, []float64{-1, 0, math.NaN(), math.Inf(1), 1, 1000}, 1, 1000, []float64{1, 10, 100, 1000}},
	} {
		s := c.axis.scale(c.values)
		s.round()
		require.InDelta(t, c.min, s.min, 1e-6, "%v", c.values)
		require.InDelta(t, c.max, s.max, 1e-6, "%v", c.values)
		require.InDeltaSlice(t, c.ticks, s.ticks(5), 1e-6, "%v", c.values)
	}
}

func TestValuesHaveUnits(t *testing.T) {
	for _, c := range []struct {
		unit  Unit
		value float64
		text  string
	}{
		{Count, 0, "0"}, {Count, 1, "1"}, {Count, 1000, "1k"}, {Count, 1_000_000, "1M"}, {Count, 2e12, "2e+03G"},
		{Nanoseconds, 0.5, "0.5 ns"}, {Nanoseconds, 999, "999 ns"}, {Nanoseconds, 999.9, "1 µs"}, {Nanoseconds, 5e7, "50 ms"},
		{Bytes, 500, "500 B"}, {Bytes, 20_000, "20 kB"}, {Share, 0.25, "25 %"},
	} {
		require.Equal(t, c.text, c.unit.Format(c.value))
	}
}

func TestNamesDoNotOverlap(t *testing.T) {
	moved := spread([]float64{100, 101, 102, 300}, 14, 0, 400)
	require.InDelta(t, 14, moved[1]-moved[0], 0.1)
	require.InDelta(t, 14, moved[2]-moved[1], 0.1)
	require.InDelta(t, 101, moved[1], 1, "the middle one stays")
	require.InDelta(t, 300, moved[3], 1e-9)

	moved = spread([]float64{399, 400}, 14, 0, 400)
	require.InDelta(t, 400, moved[1], 0.1)
	require.InDelta(t, 386, moved[0], 0.1, "none leaves the axes")
	require.Empty(t, spread(nil, 14, 0, 400))
}

func TestALongNoteHasSeveralLines(t *testing.T) {
	require.Equal(t, []string{"one two", "three", "extraordinarily", "four"}, wrap("one two three extraordinarily four", 60, 10))
	require.Empty(t, wrap("", 60, 10))
	figure := example()
	figure.Note = strings.Repeat("word ", 40)
	require.Contains(t, texts(t, figure.SVG()), strings.TrimSpace(strings.Repeat("word ", 16)))
}

func TestAFigureIsWrittenIntoAFolderThatIsMade(t *testing.T) {
	folder := t.TempDir() + "/images"
	require.NoError(t, example().Write(folder, "example.svg"))
	written, err := os.ReadFile(folder + "/example.svg")
	require.NoError(t, err)
	require.Equal(t, example().SVG(), written)
}
