package main

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

func TestEventsHaveConsecutiveResourceVersions(t *testing.T) {
	sent := httptest.NewRecorder()
	for _, order := range []order{{events: 30}, {events: 3, period: time.Nanosecond}} {
		sent.Body.Reset()
		_ = order.carryOut(sent, newCollection(7).modified, first)
		lines := json.NewDecoder(sent.Body)
		for i := range order.events {
			var event struct {
				Object struct {
					Metadata struct{ ResourceVersion string }
				}
			}
			if err := lines.Decode(&event); err != nil || event.Object.Metadata.ResourceVersion != strconv.Itoa(first+i+1) {
				t.Fatal(i, event, err)
			}
		}
		if lines.More() {
			t.Fatal("the server sent more events than requested")
		}
	}
}
