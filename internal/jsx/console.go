//go:build js

package jsx

import "syscall/js"

// Warn writes a text to the console of the host, as a warning. It needs none of the functions of wasm/glue.js.
func Warn(text string) { js.Global().Get("console").Call("warn", text) }
