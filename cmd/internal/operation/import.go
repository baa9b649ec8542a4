package operation

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ImportParameters are the parameters that turn a plugin into the package of a resource.
type ImportParameters struct {
	PluginName    string `json:"pluginName"`
	PluginVersion string `json:"pluginVersion"`
	Value         []byte `json:"value"`
}

// ImportExtension describes the extension that adds a resource's package to a plugin.
type ImportExtension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// JsonFault is a fault of JSON without words of Go's.
func JsonFault(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("its JSON is faulty at byte %d", syntax.Offset)
	}
	return err
}
