package docs

const module = "github.com/seed-6d2a410a/listwatch/"

// Names are the packages that fragments name without importing them, and how.
func Names() map[string]string {
	return map[string]string{
		"lw":         module + "lw",
		"codec":      module + "lw/codec",
		"lwtest":     module + "lw/lwtest",
		"cache":      module + "cache",
		"compact":    module + "cache/compact",
		"savefile":   module + "cache/savefile",
		"workqueue":  module + "cache/workqueue",
		"lwhttp":     module + "transport/http",
		"lwws":       module + "transport/ws",
		"fallback":   module + "transport/fallback",
		"kubeconfig": module + "transport/kubeconfig",
		"etcd":       module + "examples/etcd",
		"context":    "context",
		"errors":     "errors",
		"fmt":        "fmt",
		"http":       "net/http",
		"log":        "log",
		"os":         "os",
		"time":       "time",
	}
}

// Given are the variables that fragments use without declaring them.
func Given() map[string]string {
	return map[string]string{
		"ctx":         "context.Context",
		"err":         "error",
		"transport":   "*lwhttp.Transport",
		"client":      "*lw.Client[*lw.Object]",
		"reflector":   "*cache.Reflector[*lw.Object]",
		"informer":    "*cache.Informer[*lw.Object]",
		"store":       "*cache.Store[*lw.Object]",
		"queue":       "*workqueue.Queue[lw.Key]",
		"server":      "*lwtest.Server",
		"pod":         "*lw.Object",
		"created":     "*lw.Object", // what a write returned
		"isScheduled": "func(*lw.Object) bool",
		"wantsNode":   "func(*lw.Object) bool",
		"reconcile":   "func(context.Context, lw.Key) error",
	}
}
