package value

import "github.com/yamlhost/yamlhost/internal/value/urn"

// ResourceRef points at a resource (F1.7). ID is null for a component, an unknown for a custom resource whose ID is not
// known yet, else a string.
type ResourceRef struct {
	URN            urn.URN
	ID             Value
	PackageVersion string
}

// Resource makes a reference to a resource. It takes ownership of ref.
func Resource(ref *ResourceRef) Value { return Value{kind: KindResource, payload: ref} }
