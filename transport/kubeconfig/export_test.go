//go:build !js

package kubeconfig

// WithAccount moves the folder of the service account.
func (o *Options) WithAccount(folder string) *Options {
	moved := *o
	moved.account = folder
	return &moved
}
