package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
)

// Two workers share one queue. The first attempt to reconcile b fails, so the queue retries b.
func Example() {
	queue := workqueue.New[string]()
	for _, key := range []string{"a", "b", "a"} {
		queue.Add(key)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	reconciled := map[string]bool{}
	reconcile := func(key string) error {
		if key == "b" && queue.Failures(key) == 0 {
			return errors.New("conflict")
		}
		mu.Lock()
		defer mu.Unlock()
		reconciled[key] = true
		if len(reconciled) == 2 {
			stop()
		}
		return nil
	}

	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for key := range queue.Keys(ctx) {
				if err := reconcile(key); err != nil {
					queue.Retry(key)
				}
			}
		})
	}
	workers.Wait()
	fmt.Println(reconciled)
	// Output: map[a:true b:true]
}
