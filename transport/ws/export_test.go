package ws

import "github.com/seed-6d2a410a/listwatch/lw"

// SetLimit sets the maximum size of a message in bytes.
func SetLimit(t lw.Transport, limit int64) { t.(*transport).limit = limit }
