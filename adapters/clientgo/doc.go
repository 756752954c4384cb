// Package clientgo gives client-go informers that store the bytes of each object and decode an object when it is read.
package clientgo
