package main

import (
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client returns the client of the collection. With -o wide, it requests the server's columns.
func (s *stream) client(transport lw.Transport) (*lw.Client[*lw.Object], error) {
	opts := &lw.ClientOptions{KeepManagedFields: s.config.output.managedFields}
	if !s.config.output.wide {
		opts.MetadataOnly = s.config.resources.metadataOnly
		return lw.NewClient(transport, s.resource, lw.RawCodec{}, opts)
	}
	s.tables = table.New(transport, s.config.resources.metadataOnly)
	return lw.NewClient(s.tables, s.resource, table.Codec{}, opts)
}

// row returns the server's columns for an object, or nil if there are none.
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
