//go:build js

package jsx

import "syscall/js"

// Warn logs a warning to the console of the browser or of Node.js. It does not require wasm/glue.js.
func Warn(text string) { js.Global().Get("console").Call("warn", text) }
