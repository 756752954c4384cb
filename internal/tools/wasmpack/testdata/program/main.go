// Command program prints values that depend on its initial data.
package main

import (
	"fmt"
	"os"
	"runtime"
)

var (
	numbers = map[string]int{"one": 1, "two": 2, "three": 3}
	sparse  = [4096]int{17: 1, 1000: 2, 4095: 3}
	texts   = []string{"", "zwölf", "a\x00b"}
)

func main() {
	sum := 0
	for i, n := range sparse {
		sum += i * n
	}
	fmt.Println(numbers, sum, len(texts[2]))
	fmt.Println("three", numbers["three"], texts[1])
	if len(os.Args) > 1 {
		fall(10000, "bottom")
	}
	defer func() { fmt.Println(recover()) }()
	fmt.Println(sparse[len(texts)*2000])
}

// fall panics at the bottom of a deep stack, after a garbage collection.
func fall(depth int, text string) string {
	if depth == 0 {
		runtime.GC()
		panic(text)
	}
	return fall(depth-1, text) + text
}
