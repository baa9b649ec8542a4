package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

const (
	longText  = 4 << 10 // of a text in a value
	longValue = 2 << 20 // of a whole value, as JSON
	longSide  = 2 << 10 // of one side of a change
)

// shown returns a value as JSON for the page. A secret has the form {signature, "ciphertext": "[secret]"}, which the
// page shows as a button; long texts are cut.
func shown(v value.Value) json.RawMessage { return masked(v, state.Marked(), longValue) }

// masked writes a value in a form that masks secrets. For a value above the limit it writes a sentence with its size.
func masked(v value.Value, form state.Form, most int) json.RawMessage {
	text, err := state.AppendValue(nil, clipped(v), form)
	if err != nil {
		text = []byte(`"[this value cannot be shown]"`)
	}
	if len(text) > most {
		text, _ = json.Marshal(fmt.Sprintf("[%d bytes, too large to be shown]", len(text))) // a string encodes
	}
	return text
}

// clipped cuts the long texts in a value.
func clipped(v value.Value) value.Value {
	long := func(x value.Value) bool {
		text, ok := x.AsString()
		return ok && len(text) > longText && !x.IsSecret()
	}
	if !v.Any(long) {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if !long(x) {
			return x
		}
		text, _ := x.AsString()
		return value.String(strings.ToValidUTF8(text[:longText], "") + fmt.Sprintf("… [%d bytes]", len(text))).WithMarksOf(x)
	})
}

// difference is one property that differs between two states. A missing side is absent. An element of a list that has
// only moved has its new side, and From.
type difference struct {
	Path string          `json:"path"`
	From string          `json:"from,omitempty"` // the former path of an element of a list
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
}

// mostChanges is the largest number of changes shown for one resource.
const mostChanges = 200

// changesOf compares two states of a resource, with inputs first and the outputs that are not inputs. Secrets are
// compared by their ciphertexts.
func changesOf(before, after *state.Resource) []difference {
	var list []difference
	seen := map[string]bool{}
	add := func(part string, old, new value.Value) {
		change.Between(sealedWhole(old), sealedWhole(new), func(p change.Property) {
			if seen[p.Path] || len(list) >= mostChanges {
				return
			}
			seen[p.Path] = part == "inputs"
			x := difference{Path: part + "." + p.Path, From: p.From}
			if p.Kind == change.Updated || p.Kind == change.Removed {
				x.Old = masked(p.Before, state.Masked(), longSide)
			}
			if p.Kind != change.Removed {
				x.New = masked(p.After, state.Masked(), longSide)
			}
			list = append(list, x)
		})
	}
	add("inputs", before.Inputs, after.Inputs)
	add("outputs", before.Outputs, after.Outputs)
	return append(list, optionsOf(before, after)...)
}

// sealedWhole makes one secret text of each sealed secret in v, so that a comparison does not go into it.
func sealedWhole(v value.Value) value.Value {
	return v.Transform(func(x value.Value) value.Value {
		if sealed, ok := state.SealedText(x); ok {
			return value.String(sealed).Secret()
		}
		return x
	})
}

// optionsOf compares the options of a resource, which the state records beside its properties.
func optionsOf(before, after *state.Resource) (list []difference) {
	old, new := optionTexts(before), optionTexts(after)
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(new))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if old[name] == new[name] {
			continue
		}
		x := difference{Path: "options." + name}
		if text, ok := old[name]; ok {
			x.Old, _ = json.Marshal(text) // a string encodes
		}
		if text, ok := new[name]; ok {
			x.New, _ = json.Marshal(text)
		}
		list = append(list, x)
	}
	return list
}

func optionTexts(r *state.Resource) map[string]string {
	texts := map[string]string{}
	for _, o := range options(r) {
		texts[o.Name] += o.Value
	}
	return texts
}

// option is an option of a resource, as text.
type option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// options returns the options of a resource that differ from their defaults.
func options(r *state.Resource) (list []option) {
	text := func(name, value string) {
		if value != "" {
			list = append(list, option{name, value})
		}
	}
	flags := map[bool]string{true: "true"}
	text("protect", flags[r.Protect])
	text("retainOnDelete", flags[r.RetainOnDelete])
	text("refreshBeforeUpdate", flags[r.RefreshBeforeUpdate])
	text("deletedWith", string(r.DeletedWith))
	text("importId", r.ImportID)
	text("ignoreChanges", strings.Join(r.IgnoreChanges, ", "))
	text("replaceOnChanges", strings.Join(r.ReplaceOnChanges, ", "))
	text("hideDiffs", strings.Join(r.HideDiffs, ", "))
	text("additionalSecretOutputs", strings.Join(r.AdditionalSecretOutputs, ", "))
	for _, u := range r.ReplaceWith {
		text("replaceWith", string(u))
	}
	if t := r.CustomTimeouts; t != (state.Timeouts{}) {
		text("customTimeouts", fmt.Sprintf("create %gs, update %gs, delete %gs, read %gs", t.Create, t.Update, t.Delete, t.Read))
	}
	return list
}

// searchText returns the text of a resource for the search, in lower case, with secrets masked.
func searchText(r *state.Resource) string {
	const most = 16 << 10
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.URN.Name(), r.Type, r.ID)
	for _, v := range []value.Value{r.Inputs, r.Outputs} {
		text := masked(v, state.Masked(), longValue)
		b.Write(text[:min(len(text), most)])
		b.WriteByte('\n')
	}
	return strings.ToLower(b.String())
}

// revealRequest asks for one secret. It comes from a click, with the passphrase.
type revealRequest struct {
	Stack      string `json:"stack"`
	URN        string `json:"urn"`
	Part       string `json:"part"` // inputs or outputs
	Path       []any  `json:"path"` // keys and indexes
	Passphrase string `json:"passphrase"`
}

// reveal opens one secret. The passphrase and the derived key are not kept.
func (s *Server) reveal(ctx context.Context, req revealRequest) (any, error) {
	k, err := s.kept(ctx, req.Stack)
	if err != nil {
		return nil, err
	}
	_, r, err := k.resource(req.URN)
	if err != nil {
		return nil, err
	}
	v := r.Outputs
	if req.Part == "inputs" {
		v = r.Inputs
	}
	for _, step := range req.Path {
		switch step := step.(type) {
		case string:
			v = v.Get(step)
		case float64:
			v = v.At(int(step))
		}
	}
	sealed, ok := state.SealedText(v)
	if !ok || k.snapshot.SecretsProvider == nil {
		return nil, &httpError{http.StatusBadRequest, "there is no secret"}
	}
	m, err := s.o.Manager(*k.snapshot.SecretsProvider, req.Passphrase)
	if err != nil {
		return nil, err
	}
	text, err := m.Decrypt(sealed)
	switch {
	case errors.Is(err, secrets.ErrIncorrectPassphrase):
		return nil, &httpError{http.StatusForbidden, "the passphrase is not that of this stack"}
	case err != nil:
		return nil, err
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New("the secret is malformed")
	}
	return map[string]json.RawMessage{"value": json.RawMessage(text)}, nil
}
