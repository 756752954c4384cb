package lwtest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// This example starts a server, creates two Pods and lists one of them.
func ExampleStart() {
	s, err := lwtest.Start(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Put("pods", `{"metadata":{"name":"a","namespace":"t"},"spec":{"nodeName":"n1"}}`)
	s.Put("pods", `{"metadata":{"name":"b","namespace":"t"}}`)

	res, err := http.Get(s.URL + "/api/v1/namespaces/t/pods?limit=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	var list struct {
		Kind     string
		Metadata struct {
			ResourceVersion    string
			RemainingItemCount int
		}
	}
	json.NewDecoder(res.Body).Decode(&list)
	fmt.Println(res.StatusCode, list.Kind, "at", list.Metadata.ResourceVersion, "and", list.Metadata.RemainingItemCount, "more")
	// Output: 200 PodList at 3 and 1 more
}

// Two lists fail and the third succeeds. A watch from an expired resourceVersion receives an ERROR event.
func ExampleServer_Fail() {
	s, err := lwtest.Start(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Fail(lwtest.Lists, 2, lwtest.Refuse(&lw.StatusError{Code: 503, Reason: "ServiceUnavailable", Message: "not now"}))
	for range 3 {
		res, err := http.Get(s.URL + "/api/v1/pods")
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
		fmt.Println(res.StatusCode)
	}
	fmt.Println(len(s.Requests(lwtest.Lists)), "lists")

	s.Put("pods", `{"metadata":{"name":"a"}}`)
	s.Compact()
	res, err := http.Get(s.URL + "/api/v1/pods?watch=1&resourceVersion=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	for events := bufio.NewScanner(res.Body); events.Scan(); {
		fmt.Println(events.Text())
	}
	// Output:
	// 503
	// 503
	// 200
	// 3 lists
	// {"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (2)","reason":"Expired","code":410}}
}
