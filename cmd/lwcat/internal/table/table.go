// Package table requests Tables, which contain the columns that kubectl shows. It converts them to ordinary lists and
// watches whose objects contain the cells of their rows.
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

// maxFrame is the maximum size of a row or a watch event, in bytes. It is the default of lw.ClientOptions.MaxFrame.
const maxFrame = 64 << 20

// Transport is an lw.Transport for one collection. It passes through ordinary objects from servers without Table
// support.
type Transport struct {
	transport lw.Transport
	include   string
	frame     int // maximum size of a row or a watch event, in bytes

	mu      sync.Mutex
	columns []string
}

// New returns a transport that requests Tables. Their rows contain whole objects, or only the metadata of the objects
// if metadataOnly is true.
func New(over lw.Transport, metadataOnly bool) *Transport {
	include := "Object"
	if metadataOnly {
		include = "Metadata"
	}
	return &Transport{transport: over, include: include, frame: maxFrame}
}

// Columns returns the column names of the latest Table.
func (t *Transport) Columns() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns
}

// Cells returns the cells of an object as a JSON array, or the zero Value if it has none.
func Cells(o *lw.Object) lw.Value { return o.Get("").Member(member) }

// member is the JSON member that holds an object's table cells. No server uses this name.
const member = "lwcat.cells"

// Open implements lw.Transport. An empty Table does not show to which resource it belongs. Open then requests the
// ordinary list, which names its kind, so that an empty Table of another collection cannot delete objects.
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
	if b.next = b.readHead; req.Watch {
		b.next = b.readFrame
	} else if b.readUntilRow() {
		if err := source.Close(); err != nil {
			return nil, err
		}
		return t.transport.Open(ctx, req)
	}
	return b, nil
}

// Codec decodes objects like lw.RawCodec, but ignores their cells in comparisons. A cell such as the age changes even if
// the object does not.
type Codec struct{ lw.RawCodec }

// Same implements lw.Codec.
func (Codec) Same(*lw.Object, *lw.Scanned) bool { return true }
