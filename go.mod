module github.com/seed-6d2a410a/listwatch

go 1.26.0

// An npm package contains a Go package.
ignore wasm/node_modules

require (
	github.com/gorilla/websocket v1.5.3
	github.com/json-iterator/go v1.1.12
	github.com/klauspost/compress v1.20.3
	github.com/modern-go/reflect2 v1.0.2
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/sys v0.40.0
	golang.org/x/time v0.15.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/modern-go/concurrent v0.0.0-20180228061459-e0a39a4cb421 // indirect
	golang.org/x/tools v0.26.0 // indirect
)
