// Package soak lets several followers of one collection live through a bad time on a real kube-apiserver, and demands that
// in the end each of them holds what the server does, and was told nothing wrong on the way.
//
//   - The followers reach the server through a proxy that spoils their connections; see package faults.
//   - The server is killed, terminated, and loses its history; see accidents.go.
//   - Hundreds of writes a second go on meanwhile, over connections of their own; see writers.go.
//   - Every delta is held against the ones before it as it comes; see replay.go.
package soak
