package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// message is a JSON message of etcd's watch stream. The gateway encodes 64-bit integers as strings.
type message struct {
	Result struct {
		Header struct {
			Revision int64 `json:",string"`
		}
		Created, Canceled bool
		CancelReason      string `json:"cancel_reason"`
		CompactRevision   string `json:"compact_revision"`
		Events            []*change
	}
	Error struct{ Message string }
}

// change is an event in a message.
type change struct {
	Type   string // "DELETE", or "" for a write, because the gateway omits default values such as PUT
	Kv     *Entry // of a deleted key, it contains only the key and the revision
	PrevKv *Entry `json:"prev_kv"` // the entry before the change; nil for a new key, or if etcd has compacted it
}

func (c *change) eventType() lw.EventType {
	switch {
	case c.Type == "DELETE":
		return lw.Deleted
	case c.Kv.Created == c.Kv.Revision:
		return lw.Added
	}
	return lw.Modified
}

// end returns the first key after all keys with the prefix, because etcd selects keys by range. It increments the last byte
// of the prefix, so the prefix must not end with 0xff.
func (k *Keys) end() []byte {
	end := []byte(k.Prefix)
	if len(end) > 0 { // etcd rejects an empty prefix
		end[len(end)-1]++
	}
	return end
}

// post sends a request and returns the response body. The caller must close the body.
func (k *Keys) post(ctx context.Context, path string, question any) (io.ReadCloser, error) {
	text, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	resp, err := k.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	var failure struct {
		Code    int
		Message string
	}
	_ = json.NewDecoder(resp.Body).Decode(&failure) // if the body is not an etcd error, the message stays empty
	if failure.Code == 11 {                         // gRPC code OUT_OF_RANGE: etcd has compacted the revision
		return nil, fmt.Errorf("%w: %s", lw.ErrExpired, failure.Message)
	}
	return nil, &lw.StatusError{Code: resp.StatusCode, Message: failure.Message}
}
