package clientgo

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// The codec parses times without their UnmarshalJSON methods, so this test compares it with encoding/json.
func TestDecodesTimesLikeUnmarshalJSON(t *testing.T) {
	type times struct {
		Time  metav1.Time      `json:"time"`
		Micro metav1.MicroTime `json:"micro"`
	}
	later := metav1.NewTime(time.Unix(1, 0))
	for _, text := range []string{
		`"2026-11-28T10:15:30Z"`, `"2026-11-28T10:15:30+02:00"`, `"2026-11-28T10:15:30.123456Z"`, `"2026-11-28T10:15:30\u005a"`,
		`null`, `""`, `"null"`, `"n"`, `"yesterday"`, `"2026-13-01T00:00:00Z"`, `"2026-11-28"`, `7`, `true`, `{}`, `[]`,
	} {
		for _, field := range []string{"time", "micro"} {
			got, want := times{later, metav1.MicroTime(later)}, times{later, metav1.MicroTime(later)}
			object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a"},"` + field + `":` + text + `}`))
			require.NoError(t, err)
			err = codec.Into(object, &got)
			if json.Unmarshal([]byte(object.Raw()), &want) != nil {
				require.ErrorContains(t, err, "field "+field, text)
				continue
			}
			require.NoError(t, err, text)
			require.Equal(t, want, got, text)
		}
	}
}
