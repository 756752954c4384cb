package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	admission "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

const (
	namespaces = 40
	injectable = 20 // number of webhook configurations; each needs the CA of a different Certificate
	writers    = 8  // maximum number of concurrent requests
)

// fill creates the namespaces, and n Certificates with one Secret each.
func fill(ctx context.Context, c client.Client, n int) error {
	for i := range namespaces {
		if err := c.Create(ctx, object(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace(i))); err != nil {
			return err
		}
	}
	running, ctx := errgroup.WithContext(ctx)
	running.SetLimit(writers)
	for i := range n {
		running.Go(func() error { return errors.Join(c.Create(ctx, secret(i)), c.Create(ctx, certificate(i))) })
	}
	return running.Wait()
}

// resetWebhooks creates the webhook configurations. Existing ones are deleted first, so that they lose the CAs that
// cainjector wrote in the previous round.
func resetWebhooks(ctx context.Context, c client.Client) error {
	for i := range injectable {
		if err := c.Delete(ctx, webhooks(i)); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err := c.Create(ctx, webhooks(i)); err != nil {
			return err
		}
	}
	return nil
}

// injected reports whether all webhook configurations contain a CA.
func injected(ctx context.Context, c client.Client) bool {
	var list admission.ValidatingWebhookConfigurationList
	harness.Must(c.List(ctx, &list))
	for _, item := range list.Items {
		if len(item.Webhooks[0].ClientConfig.CABundle) == 0 {
			return false
		}
	}
	return len(list.Items) == injectable
}

func namespace(i int) string { return fmt.Sprintf("team-%d", i%namespaces) }
func named(i int) string     { return fmt.Sprintf("certificate-%d", i) }

// object returns the object with this JSON text.
func object(format string, args ...any) client.Object {
	made := &unstructured.Unstructured{}
	harness.Must(made.UnmarshalJSON(fmt.Appendf(nil, format, args...)))
	return made
}

func dnsNames(i int) (names []string) {
	for _, place := range []string{"", ".svc", ".svc.cluster.local", ".eu.example.com", ".us.example.com"} {
		name := named(i) + "." + namespace(i) + place
		names = append(names, name, "*."+name)
	}
	return names
}

func certificate(i int) client.Object {
	return object(`{"apiVersion":"cert-manager.io/v1","kind":"Certificate","metadata":{"namespace":%[1]q,"name":%[2]q,"labels":{
		"app.kubernetes.io/name":%[2]q,"app.kubernetes.io/instance":"%[2]s-production","app.kubernetes.io/managed-by":"Helm","helm.sh/chart":"service-1.14.2","team":%[1]q}},
		"spec":{"secretName":"%[2]s-tls","commonName":"%[2]s.example.com","duration":"2160h0m0s","dnsNames":%[3]s,"usages":["digital signature","server auth"],
		"issuerRef":{"name":"internal-ca","kind":"ClusterIssuer","group":"cert-manager.io"},"privateKey":{"algorithm":"ECDSA","size":256}}}`,
		namespace(i), named(i), harness.MustGet(json.Marshal(dnsNames(i))))
}

func secret(i int) client.Object {
	return object(`{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls","metadata":{"namespace":%[1]q,"name":"%[2]s-tls","annotations":{
		"cert-manager.io/certificate-name":%[2]q,"cert-manager.io/common-name":"%[2]s.example.com","cert-manager.io/issuer-name":"internal-ca",
		"cert-manager.io/issuer-kind":"ClusterIssuer","cert-manager.io/alt-names":%[3]q}},
		"stringData":{"ca.crt":%[4]q,"tls.crt":%[5]q,"tls.key":%[6]q}}`,
		namespace(i), named(i), strings.Join(dnsNames(i), ","), text(1200), text(1800), text(230))
}

// text returns n random letters and digits.
func text(n int) (all string) {
	for len(all) < n {
		all += rand.Text()
	}
	return all[:n]
}

// webhooks returns a webhook configuration into which cainjector writes the CA of Certificate i. The annotation
// inject-ca-from names this Certificate, and cainjector reads the CA from the Certificate's Secret.
func webhooks(i int) client.Object {
	return object(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":%[1]q,
		"annotations":{"cert-manager.io/inject-ca-from":"%[2]s/%[3]s"}},"webhooks":[{"name":%[1]q,"sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"service":{"namespace":%[2]q,"name":"webhook","path":"/validate"}}}]}`,
		fmt.Sprintf("webhook-%d.example.com", i), namespace(i), named(i))
}
