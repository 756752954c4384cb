//go:build !js

package kubeconfig

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
)

// group is the API group of credential plugins.
const group = "client.authentication.k8s.io/"

// exec configures a CredentialFunc that runs the user's credential plugin.
func (l *loader) exec(fields *fields) {
	place := *fields.location
	place.field = "exec"
	made := &plugin{
		location: place, command: fields.string("command"), args: fields.strings("args"), version: fields.string("apiVersion"),
		mode: fields.string("interactiveMode"), hint: printable(fields.string("installHint")), stderr: l.Stderr, lock: make(chan struct{}, 1),
	}
	for _, node := range fields.list("env") {
		variable := read(node, "exec.env.", fields.location)
		name, value := variable.string("name"), variable.string("value")
		if name == "" {
			variable.fail("name", node, "the value is missing")
		}
		made.env = append(made.env, name+"="+value)
	}
	made.secrets = secrets(made.env, made.args)
	made.validate(fields)
	if fields.boolean("provideClusterInfo") {
		made.cluster = l.clusterInfo()
	}
	l.config.HTTP.CredentialFunc = made.credential
}

// validate reports mistakes in the kubeconfig that would make every run of the plugin fail.
func (p *plugin) validate(fields *fields) {
	switch p.version {
	case group + "v1", group + "v1beta1":
	case group + "v1alpha1":
		fields.fail("apiVersion", fields.members["apiVersion"], "Kubernetes no longer supports v1alpha1: update the plugin and regenerate the kubeconfig")
	default:
		fields.fail("apiVersion", fields.members["apiVersion"], "the value must be "+group+"v1 or "+group+"v1beta1")
	}
	if p.mode == "" && p.version == group+"v1beta1" {
		p.mode = "IfAvailable"
	}
	if !slices.Contains([]string{"Never", "IfAvailable", "Always"}, p.mode) {
		fields.fail("interactiveMode", fields.members["interactiveMode"], "the value must be Never, IfAvailable or Always")
	}
	if p.command == "" {
		fields.fail("command", nil, "the value is missing")
		return
	}
	if strings.ContainsRune(p.command, filepath.Separator) {
		p.command = fields.path("command")
	}
	if _, err := exec.LookPath(p.command); err != nil {
		fields.failField("command", fields.members["command"], p.failed(err, ""))
	}
}

// clusterInfo describes the cluster. A plugin receives it if the kubeconfig sets provideClusterInfo.
type clusterInfo struct {
	Server             string          `json:"server"`
	ServerName         string          `json:"tls-server-name,omitempty"`
	Insecure           bool            `json:"insecure-skip-tls-verify,omitempty"`
	CA                 []byte          `json:"certificate-authority-data,omitempty"`
	Proxy              string          `json:"proxy-url,omitempty"`
	DisableCompression bool            `json:"disable-compression,omitempty"`
	Config             json.RawMessage `json:"config,omitempty"`
}

func (l *loader) clusterInfo() *clusterInfo {
	http := l.config.HTTP
	info := &clusterInfo{l.config.Server, http.ServerName, http.InsecureSkipVerify, http.CAData, http.Proxy, http.DisableCompression, nil}
	if http.CAFile != "" {
		info.CA, _ = secretfile.Read("certificate-authority file", http.CAFile) // cannot fail, because the file was read before
	}
	for _, node := range l.clusterFields.list("extensions") {
		extension := read(node, "extensions.", l.clusterFields.location)
		value := extension.members["extension"]
		if extension.string("name") != group+"exec" || value == nil {
			continue
		}
		var config any
		err := value.Decode(&config) // the YAML decoder limits the expansion of aliases
		if err == nil {
			info.Config, err = json.Marshal(config)
		}
		if err != nil {
			extension.failField("extension", value, errors.New("the value cannot be written as JSON"))
		}
	}
	return info
}
