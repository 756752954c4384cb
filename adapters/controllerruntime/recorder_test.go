package controllerruntime

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// encoded returns an object in both encodings of a request or response.
func encoded(t *testing.T, object runtime.Object) map[string][]byte {
	all := map[string][]byte{}
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
		require.True(t, ok)
		data, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object)
		require.NoError(t, err)
		all[contentType] = data
	}
	return all
}

func TestDryRunOfDeletionIsRecognized(t *testing.T) {
	for _, dry := range [][]string{nil, {metav1.DryRunAll}} {
		for contentType, body := range encoded(t, &metav1.DeleteOptions{DryRun: dry}) {
			request, err := http.NewRequest(http.MethodDelete, "http://server/api/v1/pods/a", bytes.NewReader(body))
			require.NoError(t, err)
			require.Equal(t, len(dry) > 0, dryRun(request), contentType)
		}
	}
}

func TestResponsesAreDecoded(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Labels: map[string]string{"k": "v"}}, Spec: corev1.PodSpec{NodeName: "n1"}}
	for contentType, body := range encoded(t, pod) {
		var object metav1.PartialObjectMetadata
		require.NoError(t, decode(body, &object), contentType)
		require.Equal(t, pod.ObjectMeta, object.ObjectMeta, contentType)
	}
	for contentType, body := range encoded(t, &metav1.Status{Status: "Success", Message: "done", Details: &metav1.StatusDetails{UID: "u"}}) {
		var object metav1.PartialObjectMetadata
		_ = decode(body, &object) // may fail, because a Status has other fields
		require.Empty(t, object.ResourceVersion, contentType)
		var status metav1.Status
		require.NoError(t, decode(body, &status), contentType)
		require.EqualValues(t, "u", status.Details.UID, contentType)
	}
	require.Error(t, decode([]byte("k8s\x00\xff"), &metav1.Status{}))
}

// TestTargets checks which requests belong to a collection.
func TestTargets(t *testing.T) {
	pods := &scope{root: "/k8s/clusters/c-1/api", plural: "pods", labels: labels.Everything(), fields: fields.Everything()}
	namespaces := &scope{root: "/api", plural: "namespaces", labels: labels.Everything(), fields: fields.Everything()}
	for _, test := range []struct {
		scope       *scope
		path        string
		key         client.ObjectKey
		subresource string
		belongs     bool
	}{
		{pods, "/k8s/clusters/c-1/api/v1/namespaces/shop/pods/a", client.ObjectKey{Namespace: "shop", Name: "a"}, "", true},
		{pods, "/k8s/clusters/c-1/api/v2/namespaces/shop/pods/a/status", client.ObjectKey{Namespace: "shop", Name: "a"}, "status", true},
		{pods, "/k8s/clusters/c-1/api/v1/namespaces/shop/pods", client.ObjectKey{Namespace: "shop"}, "", true},
		{pods, "/k8s/clusters/c-1/api/v1/namespaces/shop/services/a", client.ObjectKey{}, "", false},
		{pods, "/k8s/clusters/c-1/apis/metrics.k8s.io/v1/namespaces/shop/pods/a", client.ObjectKey{}, "", false},
		{pods, "/k8s/clusters/c-1/api/v1/namespaces/pods/status", client.ObjectKey{}, "", false},
		{pods, "/api/v1", client.ObjectKey{}, "", false},
		{namespaces, "/api/v1/namespaces/pods/finalize", client.ObjectKey{Name: "pods"}, "finalize", true},
		{namespaces, "/api/v1/namespaces/shop/pods/a", client.ObjectKey{}, "", false},
	} {
		to, ok := test.scope.target(test.path)
		require.Equal(t, test.belongs, ok, test.path)
		if ok {
			require.Equal(t, test.key, to.key, test.path)
			require.Equal(t, test.subresource, to.subresource, test.path)
		}
	}
}
