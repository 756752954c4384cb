// Command run runs the controller from docs/migration.md until it is interrupted:
//
//	go run ./run -kubeconfig ~/.kube/config
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed-6d2a410a/listwatch/examples/clientgo/controller"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	path := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "path of the kubeconfig; if empty, the Pod's service account is used")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *path); ctx.Err() == nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) error {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	// client-go would send its token to every host that the server redirects to, so the client follows no redirects.
	httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	transport, err := lwhttp.New(config.Host, &lwhttp.Options{Client: httpClient})
	if err != nil {
		return err
	}
	return controller.Run(ctx, transport, clientset)
}
