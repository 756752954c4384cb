package sample

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Published measurements and fuzz seeds depend on these Pods' exact bytes.
func TestPodsAreReproducible(t *testing.T) {
	hash := sha256.New()
	for _, pod := range Pods(1, 200) {
		hash.Write([]byte(pod.JSON() + pod.Item()))
	}
	require.Equal(t, "5fa90cb1c0f4d11cbfe89ac5de82c3c61a501cbd3ab15b6e98e121ea0cbc95f0", hex.EncodeToString(hash.Sum(nil)))
}

func TestLoopRepeatsText(t *testing.T) {
	text := make([]byte, 8)
	_, err := io.ReadFull(Loop([]byte("abc")), text)
	require.NoError(t, err)
	require.Equal(t, "abcabcab", string(text))
}

func TestTemplatedPodsAreReproducible(t *testing.T) {
	pods := Templated(1, 2000, 100)
	require.Equal(t, pods, Templated(1, 2000, 100))
	names, templates := map[string]bool{}, map[string]bool{}
	for _, pod := range pods {
		require.True(t, json.Valid([]byte(pod.JSON())))
		names[pod.Namespace+"/"+pod.Name] = true
		templates[pod.details.env] = true
	}
	require.Len(t, names, len(pods))
	require.Len(t, templates, 100)
}

func TestSourceIsReproducible(t *testing.T) {
	source, other := NewSource(1, 100), NewSource(1, 100)
	names, templates := map[string]bool{}, map[string]bool{}
	for i := range 2000 {
		pod := source.Pod(i)
		require.Equal(t, pod, other.Pod(i))
		require.True(t, json.Valid([]byte(pod.Item())))
		names[pod.Namespace+"/"+pod.Name] = true
		templates[pod.details.env] = true
	}
	require.Equal(t, source.Pod(7), source.Pod(7))
	require.Len(t, names, 2000)
	require.Len(t, templates, 100)
}
