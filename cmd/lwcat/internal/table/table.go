// Package table asks a server for Tables, which have the columns that kubectl shows, and makes ordinary lists and watches of
// them: each object comes with the cells of its row.
package table

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is a lw.Transport for one collection. A server that does not know Tables of it sends ordinary objects, which pass.
type Transport struct {
	transport lw.Transport
	include   string
	frame     int // the most bytes of a row, or a frame

	mu      sync.Mutex
	columns []string
}

// New returns a transport that asks over another one, for whole objects or their metadata only.
func New(over lw.Transport, metadataOnly bool) *Transport {
	include := "Object"
	if metadataOnly {
		include = "Metadata"
	}
	return &Transport{transport: over, include: include, frame: lw.DefaultMaxFrame}
}

// Columns returns the columns' names, as the server last told them.
func (t *Transport) Columns() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns
}

// Cells returns the cells that came with an object, as a JSON array; "" if none did.
func Cells(o *lw.Object) lw.Value { return lw.Value(o.Raw()).Member(member) }

// member is what an object's cells are called in it, which is no name that a server gives.
const member = "lwcat.cells"

// Open implements lw.Transport.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	asked := *req
	plain := cmp.Or(req.Accept, "application/json")
	drop := strings.TrimPrefix(plain, "application/json")
	asked.Accept = "application/json;as=Table;v=v1;g=meta.k8s.io" + drop + "," + plain
	if asked.Query != "" {
		asked.Query += "&"
	}
	asked.Query += "includeObject=" + t.include
	source, err := t.transport.Open(ctx, &asked)
	if err != nil {
		return nil, err
	}
	b := &body{ReadCloser: source, tables: t, source: &budget{reader: source, frame: t.frame}}
	b.decoder = json.NewDecoder(b.source)
	b.next = b.readHead
	if req.Watch {
		b.next = b.readFrame
	}
	return b, nil
}

// Codec decodes objects as the codec that it has, and compares none: cells such as an age change while the object does not.
type Codec struct{ Of lw.RawCodec }

// Decode implements lw.Codec.
func (c Codec) Decode(s *lw.Scanned) (*lw.Object, error) { return c.Of.Decode(s) }

// DropsManagedFields tells a client that the server need not send metadata.managedFields.
func (c Codec) DropsManagedFields() bool { return c.Of.DropsManagedFields() }
