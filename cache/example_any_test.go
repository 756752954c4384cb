package cache_test

import (
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Book is a type without Kubernetes metadata.
type Book struct {
	ISBN    string
	Authors []string
}

// A store can hold objects of any type. Only its writer changes it.
func ExampleNewStore() {
	books, writer := cache.NewStore(func(b *Book) lw.Key { return lw.Key{Name: b.ISBN} }, lw.Identity[*Book]{})
	byAuthor := cache.NewIndex(books, func(b *Book, to []string) []string { return append(to, b.Authors...) })

	writer.Put(&Book{"0-13-110370-9", []string{"Kernighan", "Ritchie"}})
	before := books.Snapshot()
	writer.Put(&Book{"0-13-419044-0", []string{"Donovan", "Kernighan"}})

	fmt.Println("by Kernighan:", len(byAuthor.List("Kernighan")), "and in the snapshot:", len(byAuthor.In(before).List("Kernighan")))
	// Output:
	// by Kernighan: 2 and in the snapshot: 1
}
