package soak_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/e2e/soak"
)

// durationByDefault is that of a test run; make soak has a longer one.
const durationByDefault = 90 * time.Second

// TestSoak lasts for SOAK, as "10m", and takes its choices from SEED.
func TestSoak(t *testing.T) {
	cluster := kube.Start(t)
	s := &soak.Soak{Cluster: cluster, Seed: uint64(time.Now().Unix()), Duration: durationByDefault, Logf: t.Logf}
	var err error
	if text := os.Getenv("SOAK"); text != "" {
		s.Duration, err = time.ParseDuration(text)
		require.NoError(t, err, "SOAK")
	}
	if text := os.Getenv("SEED"); text != "" {
		s.Seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "SEED")
	}
	t.Logf("seed %d", s.Seed)
	require.NoError(t, s.Run(t.Context()), "to repeat its choices, if not its timing: make soak SOAK=%v SEED=%d", s.Duration, s.Seed)
}
