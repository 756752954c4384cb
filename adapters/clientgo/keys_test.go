package clientgo

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// unusualKeys contains unusual members for a Pod's JSON. Decoders must treat names as case-sensitive. If a member is
// repeated, they must merge the values of a struct. For any other type, the last value must replace the earlier ones.
var unusualKeys = []string{
	`"metadata":{%s,"Name":"b","NAMESPACE":"c","ResourceVersion":"9","Uid":"u","Labels":{"x":"1"}}`,
	`"metadata":{%s},"Metadata":{"name":"b","labels":{"x":"1"}},"METADATA":{"uid":"u"}`,
	`"metadata":{"name":"b","namespace":"c","resourceVersion":"1","uid":"u"},"metadata":{%s}`,
	`"metadata":{"name":"b","resourceVersion":"1","uid":"u",%s,"uid":"v"}`,
	`"metadata":{%s,"labels":{"x":"1"},"labels":{"y":"2"}}`,
	`"metadata":{%s,"annotations":{"a":"1","A":"2","a":"3"}}`,
	`"metadata":{%s,"annotations":{"a":"1"},"annotations":null}`,
	`"metadata":{%s,"ownerReferences":[{"name":"r","controller":true},{"name":"s"}],"ownerReferences":[{"name":"t"}]}`,
	`"metadata":{%s},"spec":{"nodeName":"n1","NodeName":"n2","NODENAME":"n3","nodename":"n4"}`,
	`"metadata":{%s},"spec":{"NodeName":"n1"}`,
	`"metadata":{%s},"spec":{"nodeName":"n1"},"Spec":{"nodeName":"n2"}`,
	`"metadata":{%s},"spec":{"nodeName":"n1","nodeName":"n2"}`,
	`"metadata":{%s},"spec":{"nodeName":"n1"},"spec":{"hostname":"h"}`,
	`"metadata":{%s},"spec":{"nodeName":"n1"},"spec":null`,
	`"metadata":{%s},"spec":{"nodeName":"n1","node\u004eame":"n2"}`,
	`"metadata":{%s},"\u017fpec":{"nodeName":"n1"}`, // Unicode folds this letter to s
	`"metadata":{%s},"spec":{"containers":[{"name":"c","image":"i"},{"name":"d"}],"containers":[{"name":"e"}]}`,
	`"metadata":{%s},"spec":{"securityContext":{"runAsUser":1},"securityContext":{"runAsGroup":2}}`,
	`"metadata":{%s},"spec":{"nodeSelector":{"k":"1","K":"2","k":"3"}},"status":{"phase":"Running","Phase":"Failed"}`,
	`"Kind":"Node","KIND":"Node","ApiVersion":"v2","metadata":{%s}`,
}

// unusualPods is a fake API server with one Pod for each element of unusualKeys.
type unusualPods struct{}

func (unusualPods) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := func(code int, body io.Reader) (*http.Response, error) {
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body), Request: request}, nil
	}
	switch query := request.URL.Query(); {
	case query.Has("sendInitialEvents"):
		return answer(http.StatusUnprocessableEntity, strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))
	case query.Has("watch"):
		return answer(http.StatusOK, &quiet{ctx: request.Context()})
	}
	items := make([]string, len(unusualKeys))
	for n, members := range unusualKeys {
		items[n] = "{" + fmt.Sprintf(members, fmt.Sprintf(`"name":"pod-%d","namespace":"shop","resourceVersion":"5"`, n)) + "}"
	}
	return answer(http.StatusOK, strings.NewReader(`{"Kind":"NodeList","kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4"},`+
		`"Metadata":{"resourceVersion":"9"},"metadata":{"resourceVersion":"5","ResourceVersion":"9","Continue":"c"},`+
		`"Items":[{"metadata":{"name":"b","namespace":"c"}}],"items":[`+strings.Join(items, ",")+`]}`))
}

func TestUnusualKeysAreDecodedAsInClientGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := &rest.Config{Host: "http://simulated", Transport: unusualPods{}, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
		clientset := wrappedClient(t, config)
		typed, err := NewSharedInformerFactory(config, 0, nil)
		require.NoError(t, err)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		listwatch, err := NewDynamicSharedInformerFactory(config, 0, nil)
		require.NoError(t, err)
		for name, pair := range map[string][2]cache.SharedIndexInformer{
			"typed": {
				informers.NewSharedInformerFactory(clientset, 0).Core().V1().Pods().Informer(), typed.Core().V1().Pods().Informer(),
			},
			"dynamic": {
				dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(pods).Informer(), listwatch.ForResource(pods).Informer(),
			},
		} {
			var stores [2]cache.Store
			for n, informer := range pair {
				stop := start(t, informer)
				waitSynced(t, informer.HasSyncedChecker())
				stop()
				stores[n] = informer.GetStore()
			}
			require.Len(t, stores[0].ListKeys(), len(unusualKeys))
			require.ElementsMatch(t, stores[0].ListKeys(), stores[1].ListKeys())
			for n, members := range unusualKeys {
				key := fmt.Sprint("shop/pod-", n)
				want, _, _ := stores[0].GetByKey(key)
				got, _, err := stores[1].GetByKey(key)
				require.NoError(t, err, members)
				require.Equal(t, want, got, "%s informer: %s", name, members)
			}
			require.Equal(t, "5", pair[1].LastSyncResourceVersion())
		}
		pod := getPod(t, typed.Core().V1().Pods().Informer(), "shop/pod-8")
		require.Equal(t, corev1.PodSpec{NodeName: "n1"}, pod.Spec)
	})
}
