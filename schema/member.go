package schema

// Resource is a resource type of a package.
type Resource struct {
	Token       string // canonical
	Component   bool
	Inputs      *Object
	Outputs     *Object // without id and urn, which every resource has by its kind
	StateInputs *Object // what a get may pass besides the ID; nil when the schema does not say
	Aliases     []string
	Methods     map[string]string // method name to function token
	Deprecation string
	Description string
	Overlay     bool // exists in other languages only
}

// Function is a function of a package.
type Function struct {
	Token       string // canonical
	Inputs      *Object
	MultiArg    []string // names of the inputs in positional order; nil for one argument object
	Result      Type     // nil for no result
	Scalar      bool     // the result is the single value of the returned object (F8.16)
	Deprecation string
	Description string
	Overlay     bool
}

// SecretOutputs are the names of top-level outputs that the schema marks secret, in schema order (F8.12).
func (r *Resource) SecretOutputs() []string {
	var names []string
	for _, p := range r.Outputs.Properties() {
		if p.Secret {
			names = append(names, p.Name)
		}
	}
	return names
}
