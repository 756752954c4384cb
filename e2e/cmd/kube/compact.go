package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// compactRevKey is the key that contains the revision of the latest compaction by an API server. Every API
	// server watches this key and drops its snapshots of older revisions. If a compaction does not write the key,
	// the snapshots remain.
	compactRevKey = "compact_rev_key"
	// markKey is outside the API server's prefix. Writing it increments the revision without changing an object.
	markKey        = "listwatch/mark"
	compactTimeout = 30 * time.Second
)

// runCompact parses the flags of the compact command and prints the revision.
func runCompact(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compact", flag.ContinueOnError)
	endpoint := flags.String("client-url", "", "client URL of etcd")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *endpoint == "" {
		return errors.New("--client-url is required")
	}
	ctx, cancel := context.WithTimeout(ctx, compactTimeout)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{*endpoint}, Context: ctx})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", *endpoint, err)
	}
	defer func() { _ = client.Close() }()
	revision, err := compact(ctx, client)
	if err != nil {
		return err
	}
	fmt.Println(revision)
	return nil
}

// compact makes every earlier revision unusable for reads and watches. It returns the compacted revision.
//
// A watch from revision N reads the history from N+1 on. Compacting at the current revision would keep watches from the
// previous revision alive. So compact increments the revision by two first.
func compact(ctx context.Context, client *clientv3.Client) (int64, error) {
	marked, err := client.Put(ctx, markKey, "")
	if err != nil {
		return 0, fmt.Errorf("incrementing the revision: %w", err)
	}
	target := marked.Header.Revision + 1
	if _, err := client.Put(ctx, compactRevKey, strconv.FormatInt(target, 10)); err != nil {
		return 0, fmt.Errorf("announcing revision %d: %w", target, err)
	}
	// A physical compaction returns only after the history is removed.
	if _, err := client.Compact(ctx, target, clientv3.WithCompactPhysical()); err != nil {
		return 0, fmt.Errorf("compacting at revision %d: %w", target, err)
	}
	return target, nil
}
