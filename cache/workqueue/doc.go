// Package workqueue distributes keys of changed objects to the workers of a controller.
//
// A [Queue] holds each key at most once, and never gives the same key to two workers at the same time. A worker is a
// loop over [Queue.Keys]. The processing of a key ends when the loop body ends:
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
// If the body calls [Queue.Retry] or panics, the work has failed. The key becomes ready again after a delay that grows
// with each consecutive failure. Otherwise the work has succeeded. A key that is added during its work becomes ready again
// when the body ends.
package workqueue
