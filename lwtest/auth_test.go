package lwtest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	s := start(t, &Options{Tokens: map[string]bool{"good": true, "poor": false}})
	const unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}` + "\n"
	forbidden := func(who, what, details string) string {
		return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"` + what +
			`","reason":"Forbidden","details":` + details + `,"code":403}` + "\n"
	}
	const cms = `configmaps is forbidden: User \"nobody\" cannot `
	tests := map[string]struct {
		method, path, token string
		code                int
		body                string
	}{
		"valid token":                 {"GET", configMaps, "good", 200, ""},
		"unknown token":               {"GET", configMaps, "x", 401, unauthorized},
		"watch with an unknown token": {"GET", watchConfigMaps, "x", 401, unauthorized},
		"no token": {"GET", configMaps, "", 403, forbidden("",
			`configmaps is forbidden: User \"system:anonymous\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"t\"`, `{"kind":"configmaps"}`)},
		"list without permissions": {"GET", configMaps, "poor", 403, forbidden("",
			cms+`list resource \"configmaps\" in API group \"\" in the namespace \"t\"`, `{"kind":"configmaps"}`)},
		"watch without permissions": {"GET", watchConfigMaps, "poor", 403, forbidden("",
			cms+`watch resource \"configmaps\" in API group \"\" in the namespace \"t\"`, `{"kind":"configmaps"}`)},
		"list in all namespaces": {"GET", "/api/v1/configmaps", "poor", 403, forbidden("",
			cms+`list resource \"configmaps\" in API group \"\" at the cluster scope`, `{"kind":"configmaps"}`)},
		"resource in an API group": {"DELETE", "/apis/apps/v1/namespaces/t/deployments/d", "poor", 403, forbidden("",
			`deployments.apps \"d\" is forbidden: User \"nobody\" cannot delete resource \"deployments\" in API group \"apps\" in the namespace \"t\"`,
			`{"name":"d","group":"apps","kind":"deployments"}`)},
		"discovery":          {"GET", "/api", "", 403, forbidden("", `forbidden: User \"system:anonymous\" cannot get path \"/api\"`, `{}`)},
		"version endpoint":   {"GET", "/version", "", 200, ""},
		"readiness endpoint": {"GET", "/readyz", "poor", 200, "ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var header []string
			if test.token != "" {
				header = []string{"Authorization", "Bearer " + test.token}
			}
			a := request(t, test.method, s.URL+test.path, "", header...)
			require.Equal(t, test.code, a.Code)
			if test.body != "" {
				require.Equal(t, test.body, a.Body)
			}
		})
	}
}

func TestWithoutTokensAllRequestsAreAllowed(t *testing.T) {
	s := start(t, nil)
	require.Equal(t, http.StatusOK, get(t, s.URL+configMaps, "Authorization", "Bearer whatever").Code)
}
