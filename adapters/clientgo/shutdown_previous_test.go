//go:build previous

package clientgo

import "k8s.io/client-go/tools/cache"

// shutDownEventHandler replaces cache.ShutDownEventHandler, which client-go 0.36 does not have.
func shutDownEventHandler(informer cache.SharedInformer, registered cache.ResourceEventHandlerRegistration) error {
	err := informer.RemoveEventHandler(registered)
	<-registered.(*registration).ShutdownChan()
	return err
}
