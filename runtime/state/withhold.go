package state

import "github.com/yamlhost/yamlhost/internal/value"

// Withheld is the text in a resource's initErrors when its secrets could not be sealed, so that the next update looks
// after it (E5.40).
const Withheld = "its secrets could not be recorded, because there was no secrets provider to seal them"

// WithoutSecrets is r with null in the place of every secret and, if there was one, Withheld among its initErrors; r
// itself when it has none.
func (r *Resource) WithoutSecrets() *Resource {
	if !r.Inputs.ContainsSecret() && !r.Outputs.ContainsSecret() && !r.ReplacementTrigger.ContainsSecret() {
		return r
	}
	bare := r.Clone()
	bare.Inputs, bare.Outputs, bare.ReplacementTrigger = blank(r.Inputs), blank(r.Outputs), blank(r.ReplacementTrigger)
	if r.Custom {
		bare.InitErrors = append(append([]string(nil), r.InitErrors...), Withheld)
	}
	return bare
}

func blank(v value.Value) value.Value {
	if !v.ContainsSecret() {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if x.IsSecret() {
			return value.Null
		}
		return x
	})
}
