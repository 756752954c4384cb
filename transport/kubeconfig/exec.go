//go:build !js

package kubeconfig

func (p *pick) exec(fields *fields) { fields.fail("", nil, "credential plugins are not supported yet") }
