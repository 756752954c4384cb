// Package workqueue hands the keys of what changed to a controller's workers.
//
// A [Queue] holds every key once, however often it is added, and never gives one key to two workers at the same time. A
// worker is a loop; the end of the loop's body is the end of the work on its key:
//
//	for range workers {
//		go func() {
//			for key := range queue.Keys(ctx) {
//				if err := reconcile(ctx, key); err != nil {
//					log.Print(err)
//					queue.Retry(key)
//				}
//			}
//		}()
//	}
//
// A body that ends without [Queue.Retry] has succeeded, and its key is forgotten. One that called it has failed: the key
// comes again after a delay that grows with every failure in a row. A key that is added while it is being worked on comes
// again right after.
package workqueue
