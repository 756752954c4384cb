package lwtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// testTimeout is the maximum time that a test waits for one event.
const testTimeout = time.Minute

func start(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := Start(opts)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

type answer struct {
	Code   int
	Header http.Header
	Body   string
}

func (a answer) status(t testing.TB) (s wireObject) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.Body), &s), a.Body)
	require.Equal(t, "Status", s.Kind)
	return s
}

func (a answer) list(t testing.TB) (l wireList) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Code, a.Body)
	require.NoError(t, json.Unmarshal([]byte(a.Body), &l), a.Body)
	return l
}

func (a answer) object(t testing.TB) (o wireObject) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.Body), &o), a.Body)
	return o
}

// wireObject holds the fields of objects and Statuses that the tests check.
type wireObject struct {
	Kind, APIVersion, Message, Reason string
	Code                              int
	Details                           wireDetails
	Data                              map[string]string
	Metadata                          struct {
		Name, Namespace, GenerateName, UID, ResourceVersion, CreationTimestamp, Continue string
		Generation                                                                       int
		Labels, Annotations                                                              map[string]string
		ManagedFields                                                                    []struct {
			Manager, Operation, APIVersion, Time, FieldsType, Subresource string
			FieldsV1                                                      json.RawMessage
		}
	}
}

type wireList struct {
	Kind, APIVersion string
	Metadata         struct {
		ResourceVersion, Continue string
		RemainingItemCount        *int
	}
	Items []wireObject
}

func (l wireList) names() (names []string) {
	for _, item := range l.Items {
		names = append(names, item.Metadata.Name)
	}
	return names
}

// request sends a request and returns the response. Names and values alternate in header.
func request(t testing.TB, method, url, body string, header ...string) answer {
	t.Helper()
	res, err := rawRequest(context.Background(), method, url, body, header...)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, string(data)}
}

func rawRequest(ctx context.Context, method, url, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return http.DefaultClient.Do(req)
}

func get(t testing.TB, url string, header ...string) answer {
	t.Helper()
	return request(t, http.MethodGet, url, "", header...)
}

// event is a decoded watch event. line is its JSON text.
type event struct {
	Type   string
	Object wireObject
	line   string
}

func (e event) String() string { return e.Type + " " + e.Object.Metadata.Name }

// stream is an open watch.
type stream struct {
	t     testing.TB
	lines chan string
	err   error // set before lines is closed
}

// openWatch returns an open watch and closes it when the test ends.
func openWatch(t testing.TB, url string, header ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	res, err := rawRequest(ctx, http.MethodGet, url, "", header...)
	if err != nil {
		cancel()
		require.NoError(t, err)
	}
	w := &stream{t: t, lines: make(chan string)}
	go func() {
		defer close(w.lines)
		r := bufio.NewReader(res.Body)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case w.lines <- line:
				case <-ctx.Done():
				}
			}
			if err != nil {
				if err != io.EOF {
					w.err = err
				}
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		res.Body.Close()
		for range w.lines {
		}
	})
	require.Equal(t, http.StatusOK, res.StatusCode)
	return w
}

// line returns the next line of the watch and blocks until it arrives. ok is false at the end of the watch.
func (w *stream) line() (line string, ok bool) {
	w.t.Helper()
	select {
	case line, ok = <-w.lines:
		return line, ok
	case <-time.After(testTimeout):
		require.Fail(w.t, "timed out waiting for an event")
		return "", false
	}
}

func (w *stream) next() event {
	w.t.Helper()
	line, ok := w.line()
	if !ok {
		require.FailNow(w.t, "the watch ended before the next event", "%v", w.err)
	}
	e := event{line: line}
	require.NoError(w.t, json.Unmarshal([]byte(line), &e), line)
	return e
}

// expect requires that the next events equal want. Each string in want consists of a type and a name, for example
// "ADDED cm-1".
func (w *stream) expect(want ...string) {
	w.t.Helper()
	for _, want := range want {
		require.Equal(w.t, want, w.next().String())
	}
}

// end blocks until the watch ends and returns its error, or nil after a clean end.
func (w *stream) end() error {
	w.t.Helper()
	line, ok := w.line()
	require.False(w.t, ok, "unexpected event: %s", line)
	return w.err
}

// requireEventually fails the test if condition does not return true within testTimeout.
func requireEventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, testTimeout, time.Millisecond, what)
}

func configMap(name, value string, labels ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"t","labels":{%s}},"data":{"k":%q}}`,
		name, strings.Join(labels, ","), value)
}

// fill creates the ConfigMaps cm-1 to cm-n in namespace t.
func fill(t testing.TB, s *Server, n int) {
	t.Helper()
	for i := range n {
		put(t, s, configMap(fmt.Sprintf("cm-%d", i+1), "v"))
	}
}

func put(t testing.TB, s *Server, obj string) *lw.Object {
	t.Helper()
	o, err := s.Put("configmaps", obj)
	require.NoError(t, err)
	return o
}

// define creates or replaces a CustomResourceDefinition.
func define(t testing.TB, s *Server, definition string) {
	t.Helper()
	_, err := s.Put(definitions, definition)
	require.NoError(t, err)
}
