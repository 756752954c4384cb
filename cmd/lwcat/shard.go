package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// shardSelector returns the KEP-5866 selector for a part such as "1/3". It selects a half-open range of 64-bit hashes.
// The last range ends at 2^64.
func shardSelector(shard string) (string, error) {
	part, parts, _ := strings.Cut(shard, "/")
	i, errI := strconv.ParseUint(part, 10, 16)
	n, errN := strconv.ParseUint(parts, 10, 16)
	if errI != nil || errN != nil || i < 1 || i > n {
		return "", fmt.Errorf("--shard %s: expected a part and the number of parts, for example 1/3", shard)
	}
	bound := func(i uint64) string {
		if i == n {
			return "0x10000000000000000"
		}
		hash, _ := bits.Div64(i, 0, n) // i * 2^64 / n
		return fmt.Sprintf("0x%016x", hash)
	}
	return fmt.Sprintf("shardRange(object.metadata.uid,'%s','%s')", bound(i-1), bound(i)), nil
}

// shards returns an error if the server ignores --shard, because such a server would send the whole collection. It
// skips other errors, which the stream reports.
func (s *stream) shards(ctx context.Context, client *lw.Client[*lw.Object]) error {
	selector := s.config.resources.shardSelector
	if selector == "" {
		return nil
	}
	for _, err := range client.List(ctx, lw.ListOptions{ShardSelector: selector, Limit: 1}, &lw.ListMeta{}) {
		if errors.Is(err, invalid.ErrShardIgnored) {
			return fmt.Errorf("%s: %w", s.resource, err)
		}
	}
	return nil
}
