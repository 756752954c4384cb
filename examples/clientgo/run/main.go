// Command run runs an example program from docs/migration.md until it is interrupted:
//
//	go run ./run -kubeconfig ~/.kube/config exporter listwatch
//	go run ./run -kubeconfig ~/.kube/config controller clientgo
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	controllerclientgo "github.com/seed-6d2a410a/listwatch/examples/clientgo/controller/clientgo"
	controllerlistwatch "github.com/seed-6d2a410a/listwatch/examples/clientgo/controller/listwatch"
	exporterclientgo "github.com/seed-6d2a410a/listwatch/examples/clientgo/exporter/clientgo"
	exporterlistwatch "github.com/seed-6d2a410a/listwatch/examples/clientgo/exporter/listwatch"
	portclientgo "github.com/seed-6d2a410a/listwatch/examples/clientgo/port/clientgo"
	portlistwatch "github.com/seed-6d2a410a/listwatch/examples/clientgo/port/listwatch"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	path := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "path of the kubeconfig; if empty, the Pod's service account is used")
	address := flag.String("listen", "127.0.0.1:0", "listen address of the exporter")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, strings.Join(flag.Args(), " "), *path, *address)
	if ctx.Err() == nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, program, path, address string) error {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	transport, err := newTransport(config)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	report := func(line string) error { fmt.Println(line); return nil }
	switch program {
	case "controller clientgo":
		return controllerclientgo.Run(ctx, clientset)
	case "controller listwatch":
		return controllerlistwatch.Run(ctx, transport, clientset)
	case "exporter clientgo":
		fmt.Println("http://" + listener.Addr().String())
		return exporterclientgo.Run(ctx, clientset, listener)
	case "exporter listwatch":
		fmt.Println("http://" + listener.Addr().String())
		return exporterlistwatch.Run(ctx, transport, listener)
	case "port clientgo":
		return portclientgo.Run(ctx, path, time.Minute, report)
	case "port listwatch":
		return portlistwatch.Run(ctx, path, time.Minute, report)
	}
	return fmt.Errorf("unknown program %q: want controller, exporter or port, followed by clientgo or listwatch", program)
}

func newTransport(config *rest.Config) (*lwhttp.Transport, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return lwhttp.New(config.Host, &lwhttp.Options{Client: httpClient})
}
