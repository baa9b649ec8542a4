package console

import (
	"github.com/yamlhost/yamlhost/workspace/project"
)

// ConfigRecord is a value in JSON (F7.12).
type ConfigRecord struct {
	Value       *string `json:"value,omitempty"`
	ObjectValue any     `json:"objectValue,omitempty"`
	Secret      bool    `json:"secret"`
}

// masked takes the place of a secrets manager where secrets are not to be seen, so that no passphrase is needed
// (F4.16).
type masked struct{}

func (masked) Decrypt(string) (string, error) { return HiddenSecret, nil }

// HiddenSecret stands for a secret that is not shown.
const HiddenSecret = "[secret]"

// OpenerOrMask is open or, where that is nil, an opener that answers HiddenSecret for every secret.
func OpenerOrMask(open project.Opener) project.Opener {
	if open == nil {
		return masked{}
	}
	return open
}

// ParseKey reads the name of a configuration value in a namespace; with isPath it may lead to a part of the value.
func ParseKey(isPath bool, namespace, text string) (project.KeyPath, error) {
	if isPath {
		return project.ParseKeyPath(text, namespace)
	}
	key, err := project.ParseKey(text, namespace)
	return project.KeyPath{Key: key}, err
}
