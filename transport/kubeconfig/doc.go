//go:build !js

// Package kubeconfig finds out where to connect, and as whom: from kubeconfig files, as kubectl reads them, from the service
// account of a Pod, or from the caller. It makes the options of package transport/http of that.
//
//	config, err := kubeconfig.Load(nil)           // as kubectl would, without flags
//	transport, err := config.Transport()
//	client, err := lw.NewClient(transport, lw.Pods(config.Namespace), lw.RawCodec{}, nil)
//
// # Where it looks
//
// In [Options.Path]; or else in the files that the environment variable KUBECONFIG lists, or in ~/.kube/config. Of several
// files the first counts that has a cluster, a user or a context of a name, whole, and the first that names a current
// context. A path is relative to the file that it stands in. Where none of the files names a context, and the program runs
// in a Pod, it is the Pod's service account that counts.
//
// # What it supports
//
// Tokens, client certificates, authorities, in the file or in files of their own, which may rotate; credential plugins
// ("exec", of client.authentication.k8s.io/v1 and v1beta1); impersonation; a server's name for TLS; proxies over http, https
// and socks5. Passwords and "auth-provider" are refused: Kubernetes has dropped both.
//
// A plugin runs when a request first needs it, once for all transports of a [Config], and again when what it gave has expired
// or was refused. It runs within the context of that request: one that asks a human should be run by a first request that is
// in no hurry, as a list by lw.Client is, and not by lw.ListAndWatch, which gives up a request after 90 s and asks again.
//
// Credentials of a kubeconfig do not go to a server over plain "http", as with kubectl; a token that the program sets in [Config].HTTP does.
//
// # Where it differs from kubectl
//
// It refuses what kubectl passes over in silence: a context whose user does not exist, a key without its certificate, a key
// that stands twice in a mapping, a plugin that is missing, a service account without an authority. Data count beside a path,
// where kubectl refuses both. Mistakes in entries that are not used, and in credentials that are not sent, do not matter. A
// token that the caller gives is the only credential that is sent, and a user that the caller impersonates comes without the
// groups of the file. YAML's own members count before merged ones. Tests hold all else against client-go.
package kubeconfig
