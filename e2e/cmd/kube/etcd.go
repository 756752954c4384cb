package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// progressInterval is how often etcd reports its revision to an idle watch. It limits the lag of the API server's
	// bookmarks. Kubernetes clusters use the same value.
	progressInterval = 5 * time.Second
	startTimeout     = 60 * time.Second
)

// etcdConfig parses the flags of the etcd command.
func etcdConfig(args []string) (*embed.Config, error) {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dir := flags.String("data-dir", "", "data folder")
	client := flags.String("client-url", "", "URL for clients")
	peer := flags.String("peer-url", "", "URL for peers")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *dir == "" || *client == "" || *peer == "" {
		return nil, errors.New("--data-dir, --client-url and --peer-url are required")
	}
	clientURL, err := url.Parse(*client)
	if err != nil {
		return nil, fmt.Errorf("parsing --client-url: %w", err)
	}
	peerURL, err := url.Parse(*peer)
	if err != nil {
		return nil, fmt.Errorf("parsing --peer-url: %w", err)
	}
	config := embed.NewConfig()
	config.Dir = *dir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	// NewConfig leaves this at zero, which logs every request as slow.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	// Test data does not need to survive a power failure, and fsync dominates the cost of a write.
	config.UnsafeNoFsync = true
	config.WatchProgressNotifyInterval = progressInterval
	return config, nil
}

// runEtcd runs etcd until SIGTERM or SIGINT.
func runEtcd(args []string) error {
	config, err := etcdConfig(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return fmt.Errorf("starting: %w", err)
	case <-ctx.Done():
		return nil
	case <-time.After(startTimeout):
		return fmt.Errorf("starting: not ready within %v", startTimeout)
	}
	fmt.Println("ready")
	select {
	case err := <-server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}
