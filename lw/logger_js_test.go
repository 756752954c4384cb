package lw

import (
	"syscall/js"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDefaultLoggerWritesToConsole(t *testing.T) {
	var lines []string
	console := js.Global().Get("console")
	warn := console.Get("warn")
	record := js.FuncOf(func(_ js.Value, args []js.Value) any {
		lines = append(lines, args[0].String())
		return nil
	})
	defer record.Release()
	console.Set("warn", record)
	defer console.Set("warn", warn)

	r := reporter{collection: "shop/pods"}
	r.report(&Interruption{Err: status(403), Relist: true, Delay: time.Second}, time.Second)
	r.report(&Interruption{Err: status(403), Relist: true, Delay: time.Second}, time.Second)
	r.report(&Interruption{Err: status(403), Relist: true, Delay: time.Second}, time.Second+logEvery)
	const line = "listwatch: the stream was interrupted, cause: the server answered 403, collection: shop/pods, next: relist, " +
		"delay: 1s, remedy: grant the user the list and watch verbs on this resource"
	require.Equal(t, []string{line, line + ", suppressed: 1"}, lines)
}
