package lw

import "io"

// protoStatusBody finds nothing, because browsers request JSON only.
func protoStatusBody([]byte, io.Reader) (status Status, ok bool) { return status, false }
