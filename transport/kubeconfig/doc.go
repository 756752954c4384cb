//go:build !js

// Package kubeconfig creates transports from kubeconfig files, like kubectl, or from the service account of a Pod.
//
//	transport, namespace, err := kubeconfig.Connect(nil) // like kubectl without flags
//	client, err := lw.NewClient(transport, lw.Pods(namespace), lw.RawCodec{}, nil)
//
// [Connect] calls [Load] and opens a transport with its result. A program that shows or changes the settings first calls
// Load itself.
//
// # Sources
//
// Load reads [Options.Path]. If it is empty, Load reads the files listed in the environment variable KUBECONFIG, or
// ~/.kube/config. If several files contain a cluster, user or context of the same name, Load uses the whole entry from
// the first of these files. It also uses the first current-context. Paths are relative to the file that contains them.
// If no file sets a current context and the program runs in a Pod, Load uses the service account of the Pod.
//
// # Supported features
//
// Load supports tokens, client certificates and certificate authorities, either inline or in separate files that may be
// rotated. It supports credential plugins ("exec") with client.authentication.k8s.io/v1 and v1beta1. It also supports
// impersonation, tls-server-name, and proxies over http, https and socks5. It rejects passwords and "auth-provider",
// because Kubernetes no longer supports them.
//
// A plugin runs at the first request that needs it, once for all transports of a [Config]. It runs again when its
// credential has expired or was rejected. The plugin stops when the context of that request ends. For example,
// lw.ListAndWatch cancels a request that has no response after 90 seconds. This also stops the plugin, which then runs
// again for the next request. If the plugin prompts the user and needs more time, call the List method of an lw.Client
// first.
//
// As in kubectl, the credentials of a kubeconfig are not sent over plain "http". A token from the program, in
// [Options] or [Config].HTTP, is sent over any scheme.
//
// # Differences from kubectl
//
// Load rejects some mistakes that kubectl ignores:
//
//   - a context with an unknown user
//   - a private key without a certificate
//   - a duplicate key in a mapping
//   - a missing plugin
//   - a service account without a certificate authority
//
// If both inline data and a path are set, Load uses the data, but kubectl rejects the kubeconfig. Mistakes in unused
// entries and in unused credentials are ignored. A token from the caller replaces all other credentials. An
// impersonated user from the caller replaces the impersonated groups of the kubeconfig. A YAML mapping's own keys
// override merged keys. Tests compare all other behavior with client-go.
package kubeconfig
