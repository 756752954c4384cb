package clientgo

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// mutator is an environment variable that makes TestMutationDetector mutate an object in the named library's
// informer.
const mutator = "LISTWATCH_TEST_MUTATOR"

// client-go reads KUBE_CACHE_MUTATION_DETECTOR when the program starts, so the mutations happen in child processes.
// These must end in the same way as with client-go's informers.
func TestMutationDetector(t *testing.T) {
	if who := os.Getenv(mutator); who != "" {
		mutate(t, who)
		return
	}
	t.Parallel()
	for _, who := range []string{"client-go handler", "handler", "reader", "transformed", "nobody"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestMutationDetector$")
			cmd.Env = append(os.Environ(), mutator+"="+who, "KUBE_CACHE_MUTATION_DETECTOR=true")
			output, err := cmd.CombinedOutput()
			if who == "nobody" {
				require.NoError(t, err, "%s", output)
				return
			}
			require.Error(t, err)
			require.Contains(t, string(output), "CACHE *v1.Pod[0] ALTERED!")
			require.Contains(t, string(output), "panic: cache *v1.Pod modified")
		})
	}
}

func mutate(t *testing.T, who string) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	if who == "client-go handler" {
		informer = cache.NewSharedIndexInformer(listerOf(t, server, "pods"), &corev1.Pod{}, 0, nil)
	}
	if who == "transformed" {
		require.NoError(t, informer.SetTransform(func(obj any) (any, error) { return obj, nil }))
	}
	received := make(chan *corev1.Pod, 1)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { received <- obj.(*corev1.Pod) }})
	require.NoError(t, err)
	start(t, informer)
	pod := <-received
	if who == "reader" {
		stored, _, err := informer.GetStore().GetByKey("shop/a")
		require.NoError(t, err)
		pod = stored.(*corev1.Pod)
	}
	if who == "nobody" {
		pod = pod.DeepCopy()
		time.AfterFunc(1500*time.Millisecond, func() { close(received) }) // the detector compares the objects once per second
	}
	time.AfterFunc(time.Minute, func() { close(received) })
	pod.Labels = map[string]string{"mutated": "true"}
	<-received
}
