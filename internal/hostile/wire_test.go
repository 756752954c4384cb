package hostile_test

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
)

type wire struct{}
type conn struct{}

var ordinary = lw.Options{NoStreamingList: true, PageSize: 7}

func (s *server) source(t *testing.T, m *memory) (source lw.Transport, secret func(string), closeAll func()) {
	return m, nil, func() {}
}
