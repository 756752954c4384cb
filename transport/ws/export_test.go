package ws

// SetLimit sets the maximum size of a message in bytes.
func (t *Transport) SetLimit(limit int64) { t.limit = limit }
