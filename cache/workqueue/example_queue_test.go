package workqueue_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
)

// The queue retries a failed key after increasing delays. A worker can give up after a number of failures.
func ExampleQueue_Retry() {
	queue := workqueue.New[string]()
	queue.Add("web-0")
	for key := range queue.Keys(context.Background()) {
		err := errors.New("conflict")
		fmt.Println(key, err, "after", queue.Failures(key), "failures")
		if queue.Failures(key) < 2 {
			queue.Retry(key)
		} else {
			queue.Close() // the loop ends after the ready keys are processed
		}
	}
	// Output:
	// web-0 conflict after 0 failures
	// web-0 conflict after 1 failures
	// web-0 conflict after 2 failures
}

// A key that is added twice before a worker takes it is queued once. A key that is added while a worker processes it is
// processed again.
func ExampleQueue_Add() {
	queue := workqueue.New[string]()
	queue.Add("web-0")
	queue.Add("web-1")
	queue.Add("web-0")
	fmt.Println("ready:", queue.Len())
	times := 0
	for key := range queue.Keys(context.Background()) {
		fmt.Println(key)
		times++
		if times == 1 {
			queue.Add(key)
			queue.Close()
		}
	}
	// Output:
	// ready: 2
	// web-0
	// web-1
	// web-0
}
