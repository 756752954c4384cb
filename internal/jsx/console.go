//go:build js

package jsx

import "syscall/js"

// Warn logs a warning to the host's console. It does not use wasm/glue.js.
func Warn(text string) { js.Global().Get("console").Call("warn", text) }
