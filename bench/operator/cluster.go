package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	certificates "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"golang.org/x/sync/errgroup"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

const (
	namespaces = 40
	injectable = 20 // number of webhook configurations; each needs the CA of a different Certificate
	writers    = 8  // maximum number of concurrent requests
)

// cluster writes the objects that cainjector watches.
type cluster struct{ client.Client }

func newCluster(config *rest.Config) *cluster {
	return &cluster{harness.MustGet(client.New(config, client.Options{Scheme: scheme()}))}
}

// fill creates the namespaces, n Certificates with one Secret each, and the webhook configurations.
func (c *cluster) fill(ctx context.Context, n int) error {
	var objects []client.Object
	for i := range n {
		objects = append(objects, secret(i), certificate(i))
	}
	for i := range injectable {
		objects = append(objects, webhooks(i))
	}
	for i := range namespaces {
		if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace(i)}}); err != nil {
			return err
		}
	}
	running, ctx := errgroup.WithContext(ctx)
	running.SetLimit(writers)
	for _, object := range objects {
		running.Go(func() error { return c.Create(ctx, object) })
	}
	return running.Wait()
}

// clearCABundles recreates the webhook configurations, so that they lose the CAs that cainjector has written.
func (c *cluster) clearCABundles(ctx context.Context) error {
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
func (c *cluster) injected(ctx context.Context) bool {
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

func certificate(i int) *certificates.Certificate {
	name := named(i)
	made := &certificates.Certificate{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace(i), Name: name,
			Labels: map[string]string{
				"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name + "-production",
				"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "service-1.14.2", "team": namespace(i),
			},
		},
		Spec: certificates.CertificateSpec{
			SecretName: name + "-tls",
			CommonName: name + ".example.com",
			Duration:   &metav1.Duration{Duration: 90 * 24 * time.Hour},
			IssuerRef:  cmmeta.IssuerReference{Name: "internal-ca", Kind: "ClusterIssuer", Group: "cert-manager.io"},
			Usages:     []certificates.KeyUsage{certificates.UsageDigitalSignature, certificates.UsageServerAuth},
			PrivateKey: &certificates.CertificatePrivateKey{Algorithm: certificates.ECDSAKeyAlgorithm, Size: 256},
		},
	}
	for _, place := range []string{"", ".svc", ".svc.cluster.local", ".eu.example.com", ".us.example.com"} {
		made.Spec.DNSNames = append(made.Spec.DNSNames, name+"."+namespace(i)+place, "*."+name+"."+namespace(i)+place)
	}
	return made
}

func secret(i int) *corev1.Secret {
	name := named(i)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace(i), Name: name + "-tls",
			Annotations: map[string]string{
				certificates.CertificateNameKey: name, certificates.CommonNameAnnotationKey: name + ".example.com",
				certificates.IssuerNameAnnotationKey: "internal-ca", certificates.IssuerKindAnnotationKey: "ClusterIssuer",
				certificates.AltNamesAnnotationKey: strings.Join(certificate(i).Spec.DNSNames, ","),
			},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{"ca.crt": text(1200), "tls.crt": text(1800), "tls.key": text(230)},
	}
}

// text returns n random letters and digits.
func text(n int) []byte {
	var all []byte
	for len(all) < n {
		all = append(all, rand.Text()...)
	}
	return all[:n]
}

// webhooks returns a webhook configuration into which cainjector writes the CA of Certificate i.
func webhooks(i int) *admission.ValidatingWebhookConfiguration {
	none, path := admission.SideEffectClassNone, "/validate"
	name := fmt.Sprintf("webhook-%d.example.com", i)
	return &admission.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{certificates.WantInjectAnnotation: namespace(i) + "/" + named(i)},
		},
		Webhooks: []admission.ValidatingWebhook{{
			Name: name, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admission.WebhookClientConfig{
				Service: &admission.ServiceReference{Namespace: namespace(i), Name: "webhook", Path: &path},
			},
		}},
	}
}
