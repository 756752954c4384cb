//go:build !js

package http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TokenFunc is called for every request, and once more after a 401.
func ExampleOptions_tokenFunc() {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"fresh": true}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	tokens := []string{"stale", "fresh"}
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{TokenFunc: func(context.Context) (string, error) {
		token := tokens[0]
		tokens = tokens[1:]
		fmt.Println("sends the", token, "token")
		return token, nil
	}})
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	body, err := transport.Open(context.Background(), &lw.Request{Path: "/api/v1/namespaces/shop/pods", Query: "pretty=false"})
	if err != nil {
		panic(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	fmt.Print(string(text), err)
	// Output:
	// sends the stale token
	// sends the fresh token
	// {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}
	// <nil>
}

// After a 401, CredentialFunc receives the rejected credential and can return a new credential.
func ExampleCredential() {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"second": true}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	kept := &lwhttp.Credential{Token: "first"}
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{
		CredentialFunc: func(_ context.Context, rejected *lwhttp.Credential) (*lwhttp.Credential, error) {
			if rejected != nil {
				fmt.Println("rejected:", rejected.Token)
				kept = &lwhttp.Credential{Token: "second"}
			}
			return kept, nil
		},
	})
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	body, err := transport.Open(context.Background(), &lw.Request{Path: "/api/v1/pods"})
	if err != nil {
		panic(err)
	}
	defer body.Close()
	fmt.Println("then", kept.Token)
	// Output:
	// rejected: first
	// then second
}

// Error responses match the errors of package lw.
func ExampleTransport() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	_, err = transport.Open(context.Background(), &lw.Request{Path: "/apis/nothing.example.com/v1/things"})
	fmt.Println(err)
	fmt.Println(errors.Is(err, lw.ErrNotFound))
	// Output:
	// the server answered 404: 404 page not found
	// true
}

// The transport does not send credentials to the target of a redirect. The error contains the origin of the target.
func ExampleTransport_Open_redirect() {
	other, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"s3cret": true}})
	if err != nil {
		panic(err)
	}
	defer other.Close()
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	server.Fail(nil, -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	})
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{Token: "s3cret"})
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	_, err = transport.Open(context.Background(), &lw.Request{Path: "/api/v1/pods"})
	fmt.Println(errors.Is(err, lw.ErrForbidden), strings.ReplaceAll(err.Error(), other.URL, "https://other.example"))
	// Output: true http: redirected to https://other.example without credentials: the server answered 403 Forbidden: pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope
}

// A kube-apiserver sends its discovery document only if the document has changed.
func ExampleTransport_Open_notModified() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	request := &lw.Request{Path: "/apis", Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
	response, err := transport.Open(context.Background(), request)
	if err != nil {
		panic(err)
	}
	defer response.Close()
	request.IfNoneMatch = response.ETag
	_, err = transport.Open(context.Background(), request)
	fmt.Println(errors.Is(err, lw.ErrNotModified))
	// Output: true
}
