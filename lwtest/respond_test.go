package lwtest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPretty(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	tests := map[string]struct {
		query, agent string
		pretty       bool
	}{
		"other user agent":          {"", "lw/1", false},
		"pretty parameter":          {"?pretty=true", "lw/1", true},
		"invalid pretty parameter":  {"?pretty=x", "lw/1", false},
		"browser":                   {"", "Mozilla/5.0 (X11; Linux x86_64)", true},
		"curl":                      {"", "curl/8.0", true},
		"Wget":                      {"", "Wget/1.21", true},
		"browser with pretty=false": {"?pretty=false", "Mozilla/5.0 (X11; Linux x86_64)", false},
	}
	for name, test := range tests {
		for _, path := range []string{configMaps, configMaps + "/cm-1", configMaps + "/nope"} {
			t.Run(name+" "+path, func(t *testing.T) {
				body := get(t, s.URL+path+test.query, "User-Agent", test.agent).Body
				require.True(t, json.Valid([]byte(body)))
				require.Equal(t, test.pretty, strings.HasPrefix(body, "{\n  \"kind\": "), body)
				require.Equal(t, !test.pretty, strings.HasSuffix(body, "}\n"), "compact JSON must end with a newline, and indented JSON must not")
			})
		}
	}
}

func TestOnlyLargeListsAreCompressed(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("small", "x"))
	put(t, s, configMap("large", strings.Repeat("x", gzipFrom)))
	tests := map[string]struct {
		path, accept string
		compressed   bool
	}{
		"large list":                  {configMaps, "gzip", true},
		"gzip among other encodings":  {configMaps, "deflate, gzip;q=0.5", true},
		"client does not accept gzip": {configMaps, "identity", false},
		"small list":                  {configMaps + "?limit=1&fieldSelector=metadata.name%3Dsmall", "gzip", false},
		"single object":               {configMaps + "/large", "gzip", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			// With an explicit Accept-Encoding header, net/http does not decompress the response.
			a := get(t, s.URL+test.path, "Accept-Encoding", test.accept)
			require.Equal(t, test.compressed, a.Header.Get("Content-Encoding") == "gzip")
			if !test.compressed {
				return
			}
			require.Less(t, len(a.Body), gzipFrom/10)
			require.Equal(t, "Accept-Encoding", a.Header.Get("Vary"))
			zip, err := gzip.NewReader(strings.NewReader(a.Body))
			require.NoError(t, err)
			body, err := io.ReadAll(zip)
			require.NoError(t, err)
			require.Len(t, answer{Code: a.Code, Body: string(body)}.list(t).Items, 2)
		})
	}
}

func TestAccept(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	const partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	tests := map[string]string{ // maps an Accept header to the media type of the response
		"":                                  "ConfigMapList",
		"*/*":                               "ConfigMapList",
		"application/json":                  "ConfigMapList",
		"application/json;stream=watch":     "ConfigMapList",
		"application/cbor,application/json": "ConfigMapList",
		"text/html, application/*;q=0.8":    "ConfigMapList",
		table + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json": "Table",
		table: "Table",
		"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json": "ConfigMapList",
		"application/json;as=Table;v=v1;g=other":                             "Status",
		partial:                                                              "PartialObjectMetadataList",
		partial + ",application/json":                                        "PartialObjectMetadataList",
		"text/csv":                                                           "Status",
		"application/cbor":                                                   "Status",
	}
	for accept, kind := range tests {
		t.Run(accept, func(t *testing.T) {
			a := get(t, s.URL+configMaps, "Accept", accept)
			require.Equal(t, kind, a.object(t).Kind)
			require.Equal(t, kind == "Status", a.Code == http.StatusNotAcceptable)
		})
	}
}

func TestPartialObjectMetadata(t *testing.T) {
	s := start(t, nil)
	_, err := s.Put("widgets.lw.example.com", `{"metadata":{"name":"w","namespace":"t","annotations":{"metadata":"{}"}},"spec":{"n":1}}`)
	require.NoError(t, err)
	path := s.URL + "/apis/lw.example.com/v1/namespaces/t/widgets"
	accept := []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
	for _, body := range []string{
		get(t, path+"/w", accept...).Body,
		openWatch(t, path+"?watch=1", accept...).next().line,
		get(t, path, "Accept", strings.Replace(accept[1], "Metadata;", "MetadataList;", 1)).Body,
	} {
		require.Contains(t, body, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"annotations":{"metadata":"{}"},`)
		require.NotContains(t, body, `"spec":{"n"`)
	}
}
