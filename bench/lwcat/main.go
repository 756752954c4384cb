// Command lwcat compares a release of lwcat with kubectl on a real kube-apiserver: the start, a list, and a watch with
// changes. Run make e2e-server first, which builds the kube-apiserver and kubectl.
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
)

var rounds = harness.Rounds(3)

// commands contains the arguments of each contender. The part of the name before a comma is the program.
var commands = map[string][]string{
	"kubectl":      {"get", "pods"},
	"lwcat, table": {"get", "pods", "-o", "wide"},
	"lwcat, lines": {"get", "pods", "-o", "line"},
	"lwcat, diffs": {"get", "pods", "-o", "diff"},
}

var contenders = []string{"kubectl", "lwcat, table", "lwcat, lines", "lwcat, diffs"}

func main() { harness.Main(compare) }

func compare(ctx context.Context) error {
	environment, err := kube.Start("..")
	if err != nil {
		return err
	}
	defer func() { _ = environment.Stop() }()
	folder := harness.MustGet(os.MkdirTemp("", "lwcat"))
	defer func() { _ = os.RemoveAll(folder) }()
	b := &bench{
		programs:   map[string]string{"kubectl": filepath.Join(harness.MustGet(kubeassets.Locate("..")), "kubectl"), "lwcat": harness.MustGet(filepath.Abs("../bin/lwcat-linux-amd64"))},
		kubeconfig: filepath.Join(folder, "kubeconfig"),
		pods:       harness.MustGet(typedcore.NewForConfig(environment.Config)).Pods("default"),
	}
	harness.Must(os.WriteFile(b.kubeconfig, environment.KubeConfig, 0o600))
	build := exec.CommandContext(ctx, "make", "--silent", "-C", "..", "size-lwcat") // with the flags of a release
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "creating Pods")
	b.names = kube.CreatePods(ctx, b.pods, harness.Size(5000, 50))
	found, err := harness.Compare(*rounds, contenders, func(contender string) (harness.Figures, error) { return b.measure(ctx, contender) })
	if err != nil {
		return err
	}
	return harness.Save("lwcat", harness.Medians(found))
}

type bench struct {
	programs   map[string]string // path of each program
	kubeconfig string
	pods       typedcore.PodInterface
	names      []string // names of the Pods
	shown      int      // number of calls to show; makes the names of its Pods and the changes unique
}

// cpuTime returns the CPU time of a process that has ended, in milliseconds.
func cpuTime(cmd *exec.Cmd) float64 {
	return float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1e3
}

// measure measures one contender: how long a command takes that gets a single object, the CPU time of a list, and a watch
// that prints all Pods and then 1,000 changes.
func (b *bench) measure(ctx context.Context, contender string) (harness.Figures, error) {
	program, _, _ := strings.Cut(contender, ",")
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, b.programs[program], append(slices.Clone(arguments), "--kubeconfig", b.kubeconfig)...)
		cmd.Stderr = os.Stderr
		return cmd
	}
	began := time.Now()
	if err := command("get", "namespace", "default").Run(); err != nil {
		return nil, err
	}
	measured := harness.Figures{"start, ms": float64(time.Since(began).Microseconds()) / 1e3}
	list := command(commands[contender]...)
	if err := list.Run(); err != nil {
		return nil, err
	}
	measured["list, CPU time in ms"] = cpuTime(list)

	watch := command(append(slices.Clone(commands[contender]), "-w")...)
	output := harness.MustGet(watch.StdoutPipe())
	harness.Must(watch.Start())
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 16<<20)                  // the default limit is 64 kB per line
	if err := b.show(ctx, lines); err != nil { // waits for the list
		return nil, err
	}
	b.change(ctx)
	if err := b.show(ctx, lines); err != nil {
		return nil, err
	}
	measured["watch, peak RSS in MB"] = harness.PeakRSSOf(watch.Process.Pid) / (1 << 20)
	_ = watch.Process.Signal(os.Interrupt)
	_, _ = io.Copy(io.Discard, output) // Wait must not close the pipe while the program still writes to it
	_ = watch.Wait()                   // its exit code depends on the program
	measured["watch, CPU time in ms"] = cpuTime(watch)
	return measured, nil
}

// show creates a Pod and waits until the watch has printed it. By then, the watch has also printed all earlier changes.
func (b *bench) show(ctx context.Context, lines *bufio.Scanner) error {
	b.shown++
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("shown-%d", b.shown)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	harness.MustGet(b.pods.Create(ctx, pod, metav1.CreateOptions{}))
	for lines.Scan() {
		if strings.Contains(lines.Text(), pod.Name) {
			return b.pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		}
	}
	return fmt.Errorf("the program ended before it printed %s: %w", pod.Name, cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
}

// change changes the state of 1,000 Pods, which all formats show.
func (b *bench) change(ctx context.Context) {
	for i := range 1000 {
		patch := fmt.Appendf(nil, `{"status":{"reason":"Reason%d"}}`, b.shown*1000+i)
		harness.MustGet(b.pods.Patch(ctx, b.names[i%len(b.names)], types.MergePatchType, patch, metav1.PatchOptions{}, "status"))
	}
}
