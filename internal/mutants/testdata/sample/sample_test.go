package sample

import (
	"fmt"
	"testing"
	"time"
)

func TestCompared(t *testing.T) {
	if !Compared(1, 1) || Compared(1, 2) || !Compared(99, 1) {
		t.Fail()
	}
}

// TestSlow is run after the others, and notices nothing.
func TestSlow(t *testing.T) {
	time.Sleep(200 * time.Millisecond)
	Compared(1, 2)
}

func TestReceived(t *testing.T) {
	from := make(chan int, 1)
	if from <- 7; Received(from) != 9 {
		t.Fail()
	}
}

func TestShifted(t *testing.T) {
	if Shifted[uint64](1) != 10 || Shifted[uint32](4) != 48 {
		t.Fail()
	}
}

// ExampleShifted runs in circles where TestShifted fails: examples are run nevertheless.
func ExampleShifted() {
	for Shifted[uint64](1) != 10 || Shifted[uint32](4) != 48 {
	}
	fmt.Println(Shifted[uint64](1), Shifted[uint32](4))
	// Output: 10 48
}

func TestState(t *testing.T) {
	var s state
	if s.note("closed"); s.count != 0 {
		t.Fail()
	}
	if s.add(2); s.count != 2+7+9 || !s.open {
		t.Fatal(s.count)
	}
	if s.note(""); s.count != 18 {
		t.Fail()
	}
}

func TestSizes(t *testing.T) {
	if sizes != [2]time.Duration{3 * time.Second, -2} {
		t.Fail()
	}
}

// TestHalved leaves a folder behind when it is killed.
func TestHalved(t *testing.T) {
	t.TempDir()
	if Halved(5) != 3 {
		t.Fail()
	}
}
