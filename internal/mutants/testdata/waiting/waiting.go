// Package waiting has one mutant that is reached, which waits for ever, without taking time of a processor.
package waiting

import "time"

var forever = false

func Wait() {
	for forever {
		time.Sleep(time.Hour)
	}
}
