//go:build !js

package codec_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/stretchr/testify/require"
)

// metadataWithUID imitates the ObjectMeta of Kubernetes.
type metadataWithUID struct {
	Name            string   `json:"name"`
	UID             namedUID `json:"uid"`
	ResourceVersion string   `json:"resourceVersion"`
}

func (m *metadataWithUID) GetNamespace() string       { return "" }
func (m *metadataWithUID) GetName() string            { return m.Name }
func (m *metadataWithUID) GetUID() namedUID           { return m.UID }
func (m *metadataWithUID) GetResourceVersion() string { return m.ResourceVersion }

// machine can be decoded from JSON and from protobuf. Field 2 of its message is the color.
type machine struct {
	metadataWithUID `json:"metadata"`
	Color           string `json:"color"`
}

func (m *machine) Unmarshal(data []byte) error {
	return fields(data, func(number int, value []byte) error {
		if number == 2 {
			m.Color = string(value)
			return nil
		}
		return fields(value, func(number int, value []byte) error {
			switch number {
			case 1:
				m.Name = string(value)
			case 5:
				m.UID = namedUID(value)
			case 6:
				m.ResourceVersion = string(value)
			}
			return nil
		})
	})
}

// listJSON and listProtobuf return a list response with the machine a at resourceVersion 7.
func listJSON(uid, color string) string {
	return `{"kind":"MachineList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[` +
		`{"metadata":{"name":"a","uid":"` + uid + `","resourceVersion":"7"},"color":"` + color + `"}]}`
}

func listProtobuf(uid, color string) string {
	item := field(1, field(1, "a")+field(5, uid)+field(6, "7")) + field(2, color)
	return "k8s\x00" + field(1, field(1, "v1")+field(2, "MachineList")) + field(2, field(1, field(2, "9"))+field(2, item))
}

// responses is a transport that returns the lists one after another. Each watch fails, which causes a relist.
type responses struct{ lists []string }

func (r *responses) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	if req.Watch || len(r.lists) == 0 {
		return nil, &lw.StatusError{Code: 410, Reason: "Expired"}
	}
	list := r.lists[0]
	r.lists = r.lists[1:]
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(list))}, nil
}

// In a rebuilt cluster, a recreated object can have the same resourceVersion as its predecessor.
func TestRecreatedObjectWithSameResourceVersionIsDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		codec lw.Codec[*machine]
		list  func(uid, color string) string
	}{
		"JSON":     {codec.JSON[*machine](nil), listJSON},
		"Protobuf": {codec.Protobuf[*machine](), listProtobuf},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &responses{lists: []string{c.list("u1", "red"), c.list("u1", "red"), c.list("u2", "blue")}}
				opts := &lw.ClientOptions{}
				if name == "Protobuf" {
					opts.Protobuf = true
				}
				client, err := lw.NewClient(server, lw.Resource{Version: "v1", Plural: "machines"}, c.codec, opts)
				require.NoError(t, err)
				informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true})
				lists := 0
				var seen []string
				for event, changes := range informer.Follow(t.Context()) {
					for _, change := range changes {
						state := change.New
						if change.Type == lw.Deleted {
							state = change.Old
						}
						seen = append(seen, change.Type.String()+" "+string(state.UID)+" "+state.Color)
					}
					if event.Type == lw.Synced {
						lists++
					}
					if lists == 3 {
						break
					}
				}
				require.Equal(t, []string{"ADDED u1 red", "DELETED u1 red", "ADDED u2 blue"}, seen)
				stored, _ := informer.Store().Get(lw.Key{Name: "a"})
				require.Equal(t, machine{metadataWithUID{"a", "u2", "7"}, "blue"}, *stored)
			})
		})
	}
}

// Without the option, the client requests JSON, which the codec cannot decode. Browsers and text codecs do not support
// protobuf.
func TestProtobufNeedsOption(t *testing.T) {
	machines := lw.Resource{Version: "v1", Plural: "machines"}
	client, err := lw.NewClient(&responses{lists: []string{listJSON("u1", "red")}}, machines, codec.Protobuf[*machine](), nil)
	require.NoError(t, err)
	for _, err = range client.List(t.Context(), lw.ListOptions{}).Objects {
	}
	require.ErrorContains(t, err, "set lw.ClientOptions.Protobuf")

	_, err = lw.NewClient(&responses{}, machines, lw.RawCodec{}, &lw.ClientOptions{Protobuf: true})
	require.ErrorContains(t, err, "clear ClientOptions.Protobuf")
}
