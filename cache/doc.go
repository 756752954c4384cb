// Package cache folds a collection's event stream into a store that is ready to be read.
//
// A [Reflector] is the only writer of its [Store]: it follows [lw.ListAndWatch], keeps the store equal to the server, and
// tells what changed as [Change]s. The store may be read from any goroutine at any time. It knows events, not transports.
//
// [Save] writes what a store holds, and [Reflector.Restore] lets a later process go on from there without a list; package
// savefile does so with files.
package cache
