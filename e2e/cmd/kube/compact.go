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
	// compactRevKey is where the API server writes the revision at which it
	// compacts. Every API server watches it to drop its own snapshots of older
	// revisions, so a compaction that does not write it is only half seen.
	compactRevKey = "compact_rev_key"
	// markKey is outside the prefix of the API server: writing it moves the
	// revision and changes no object.
	markKey        = "listwatch/mark"
	compactTimeout = 30 * time.Second
)

// runCompact parses the flags of the compact command and prints the revision.
func runCompact(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compact", flag.ContinueOnError)
	endpoint := flags.String("client-url", "", "URL that etcd serves clients on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *endpoint == "" {
		return errors.New("--client-url is needed")
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

// compact makes every revision before its call unusable, for reads and for
// watches, and returns the revision at which it compacted.
//
// A watch from revision N reads the history from N+1 on, so that compacting at
// the present revision would leave watches from the revision before it alive.
// That is why the revision moves by two first.
func compact(ctx context.Context, client *clientv3.Client) (int64, error) {
	marked, err := client.Put(ctx, markKey, "")
	if err != nil {
		return 0, fmt.Errorf("moving the revision: %w", err)
	}
	target := marked.Header.Revision + 1
	if _, err := client.Put(ctx, compactRevKey, strconv.FormatInt(target, 10)); err != nil {
		return 0, fmt.Errorf("announcing revision %d: %w", target, err)
	}
	// Physical: the call returns when the history is gone, not merely marked.
	if _, err := client.Compact(ctx, target, clientv3.WithCompactPhysical()); err != nil {
		return 0, fmt.Errorf("compacting at revision %d: %w", target, err)
	}
	return target, nil
}
