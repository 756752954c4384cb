package main

import (
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client returns what lists and watches the collection, and asks for the server's own columns if they are to be printed.
func (s *stream) client(transport lw.Transport) (*lw.Client[*lw.Object], error) {
	if s.config.output.frames {
		transport = &frameTransport{transport: transport, show: func(frame []byte) {
			// An output that is broken is found again by the event that follows.
			_ = s.out.mark(&output.Mark{Time: s.time(), Resource: s.kind, Frame: frame})
		}}
	}
	codec := lw.RawCodec{KeepManagedFields: s.config.output.managedFields}
	if !s.config.output.wide {
		return lw.NewClient(transport, s.resource, codec, &lw.ClientOptions{MetadataOnly: s.config.resources.metadataOnly})
	}
	s.tables = table.New(transport, s.config.resources.metadataOnly)
	return lw.NewClient(s.tables, s.resource, table.Codec{Of: codec}, nil)
}

// row returns how the server shows an object; nil if it does not.
func (s *stream) row(o *lw.Object) *output.Row {
	if s.tables == nil {
		return nil
	}
	columns, cells := s.tables.Columns(), table.Cells(o)
	if columns == nil || !cells.Exists() {
		return nil
	}
	return &output.Row{Columns: columns, Cells: cells}
}
