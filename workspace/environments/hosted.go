package environments

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
)

// Hosted gives access to the environments that a service stores and evaluates.
type Hosted struct {
	Client  *serviceapi.Client
	Owner   string                                    // organization of names without one; empty to use Default
	Default func(ctx context.Context) (string, error) // the default organization
}

// organization returns the organization of names without one.
func (h *Hosted) organization(ctx context.Context) (string, error) {
	if h.Owner != "" {
		return h.Owner, nil
	}
	return h.Default(ctx)
}

// Project is the project of names that have none.
const Project = "default"

// name returns the parts of a name: NAME, PROJECT/NAME or ORGANIZATION/PROJECT/NAME.
func (h *Hosted) name(ctx context.Context, name string) (parts []string, err error) {
	parts = strings.Split(name, "/")
	if len(parts) > 3 {
		return nil, fmt.Errorf("%q is no name of an environment\nA name is NAME, PROJECT/NAME or ORGANIZATION/PROJECT/NAME.",
			name)
	}
	for _, part := range parts {
		if !nameForm.MatchString(part) {
			return nil, fmt.Errorf("%q is no name of an environment\nA name is NAME, PROJECT/NAME or ORGANIZATION/PROJECT/NAME, "+
				"of letters, digits, - _ and points.", name)
		}
	}
	if len(parts) == 1 {
		parts = []string{Project, name}
	}
	if len(parts) == 2 {
		organization, err := h.organization(ctx)
		if err != nil {
			return nil, err
		}
		parts = append([]string{organization}, parts...)
	}
	return parts, nil
}

// call sends a request about one environment or all environments of an organization. path follows esc/environments.
func (h *Hosted) call(ctx context.Context, method string, path []string, query url.Values, body, answer any,
	tag string) error {
	return h.Client.Do(ctx, serviceapi.Call{Method: method, Query: query, Body: body, Tag: tag,
		Path: serviceapi.Path(append([]string{"esc", "environments"}, path...)...)}, answer)
}

// explain adds the name of the environment to an error.
func (h *Hosted) explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case serviceapi.Status(err) == http.StatusNotFound:
		return fmt.Errorf("the service %s has no environment %s\n`yamlhost env ls` lists them; make it with `yamlhost env "+
			"init %[2]s`.", h.Client.URL(), name)
	case serviceapi.Status(err) == http.StatusConflict:
		return fmt.Errorf("the service %s has an environment %s already, or it has been changed meanwhile: %w", h.Client.URL(),
			name, err)
	}
	return fmt.Errorf("environment %s: the service %s: %w", name, h.Client.URL(), err)
}

// explainAll adds to an error about all environments of an organization what was being done.
func (h *Hosted) explainAll(doing, organization string, err error) error {
	if serviceapi.Status(err) == http.StatusNotFound {
		err = errors.New("it keeps no environments, or none of this organization")
	}
	return fmt.Errorf("%s the environments of %s: the service %s: %w", doing, organization, h.Client.URL(), err)
}

// Names returns the environments of the organization, as PROJECT/NAME.
func (h *Hosted) Names(ctx context.Context) (names []string, err error) {
	organization, err := h.organization(ctx)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	for {
		var page struct {
			Environments []struct{ Project, Name string }
			NextToken    string
		}
		if err := h.call(ctx, http.MethodGet, []string{organization}, query, nil, &page, ""); err != nil {
			return nil, h.explainAll("list", organization, err)
		}
		for _, e := range page.Environments {
			names = append(names, e.Project+"/"+e.Name)
		}
		if page.NextToken == "" {
			return names, nil
		}
		query.Set("continuationToken", page.NextToken)
	}
}

// Read returns the text of an environment, with its secrets sealed, and the tag for Write.
func (h *Hosted) Read(ctx context.Context, name string) (text []byte, tag string, err error) {
	var answer serviceapi.Text
	plain, version, versioned := strings.Cut(name, "@")
	path, err := h.name(ctx, plain)
	if versioned {
		path = append(path, "versions", version)
	}
	if err == nil {
		err = h.explain(name, h.call(ctx, http.MethodGet, path, nil, nil, &answer, ""))
	}
	return answer.Bytes, answer.Tag, err
}

// Write replaces the text of an environment, which has the tag if that is not empty. A text with faults is not taken.
func (h *Hosted) Write(ctx context.Context, name string, src *diag.Source, tag string) (diag.Diagnostics, error) {
	path, err := h.name(ctx, name)
	if err != nil {
		return nil, err
	}
	err = h.call(ctx, http.MethodPatch, path, nil, src.Text(), nil, tag)
	if found := findings(err, src); found != nil {
		return found, nil
	}
	return nil, h.explain(name, err)
}

// Create makes an environment of a text. A text with faults is not taken.
func (h *Hosted) Create(ctx context.Context, name string, src *diag.Source) (diag.Diagnostics, error) {
	path, err := h.name(ctx, name)
	if err != nil {
		return nil, err
	}
	hosted := Hosted{Client: h.Client, Owner: path[0]}
	if _, found, err := hosted.evaluate(ctx, src, true); found.HasErrors() || err != nil {
		return found, err
	}
	err = h.call(ctx, http.MethodPost, path[:1], nil, map[string]string{"project": path[1], "name": path[2]}, nil, "")
	if err != nil {
		return nil, h.explain(name, err)
	}
	return h.Write(ctx, name, src, "")
}

// Remove removes an environment.
func (h *Hosted) Remove(ctx context.Context, name string) error {
	path, err := h.name(ctx, name)
	if err != nil {
		return err
	}
	return h.explain(name, h.call(ctx, http.MethodDelete, path, nil, nil, nil, ""))
}

// named evaluates the environment of a name.
func (h *Hosted) named(ctx context.Context, name string, check bool) (*Environment, diag.Diagnostics, error) {
	plain, version, _ := strings.Cut(name, "@")
	path, err := h.name(ctx, plain)
	if err != nil {
		return nil, nil, err
	}
	imported := path[1] + "/" + path[2]
	if version != "" {
		imported += "@" + version
	}
	hosted := Hosted{Client: h.Client, Owner: path[0]}
	env, found, err := hosted.evaluate(ctx, diag.NewSource(name, []byte("imports: ["+strconv.Quote(imported)+"]\n")), check)
	if found.HasErrors() { // perhaps there is no such environment
		if _, _, missing := h.Read(ctx, name); missing != nil {
			return nil, nil, missing
		}
	}
	return env, found, err
}

// session is how long the service keeps an opened environment; evaluate reads it at once.
const session = 5 * time.Minute

// evaluate sends a document to the service to evaluate, or with check only to check.
func (h *Hosted) evaluate(ctx context.Context, src *diag.Source, check bool) (*Environment, diag.Diagnostics, error) {
	organization, err := h.organization(ctx)
	if err != nil {
		return nil, nil, err
	}
	path := []string{organization, "yaml", "open"}
	var opened struct {
		ID         string
		Properties map[string]escValue
	}
	if check {
		err = h.call(ctx, http.MethodPost, []string{organization, "yaml", "check"}, nil, src.Text(), &opened, "")
	} else {
		err = h.call(ctx, http.MethodPost, path, url.Values{"duration": {session.String()}}, src.Text(), &opened, "")
		if err == nil {
			err = h.call(ctx, http.MethodGet, append(path, opened.ID), nil, nil, &opened, "")
		}
	}
	if found := findings(err, src); found != nil {
		return nil, found, nil
	}
	if err != nil {
		return nil, nil, h.explainAll("open", organization, err)
	}
	found := roundedIn(src)
	infinite := func(n json.Number) bool { return !isFinite(n) }
	if (escValue{Value: opened.Properties}).hasNumber(infinite) {
		found.Add(diag.Diagnostic{Code: diag.BadEnvironment, Subject: diag.NewRange(src, 0, 0), Summary: notFinite})
	}
	for _, part := range []string{Config, PolicyConfig} {
		if opened.Properties[part].hasNumber(losesDigits) {
			d := diag.LosesDigits(diag.NewRange(src, 0, 0), "", 0)
			d.Summary = part + ": " + d.Summary
			found.Add(d)
		}
	}
	return environmentOf(opened.Properties, check), found, nil
}

// environmentOf returns the environment of a service's answer. With hide, secrets are unknown.
func environmentOf(values map[string]escValue, hide bool) *Environment {
	whole := escValue{Value: values}
	return &Environment{Values: whole.value(hide, numberOf), Spelled: whole.value(hide, textOfNumber)}
}

// escValue is a value in the form of a service, in which each item of a map or list is an escValue too.
type escValue struct {
	Value           any
	Secret, Unknown bool
}

// UnmarshalJSON reads a value.
func (v *escValue) UnmarshalJSON(text []byte) error {
	var raw struct {
		Value           json.RawMessage
		Secret, Unknown bool
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	v.Secret, v.Unknown = raw.Secret, raw.Unknown
	switch inner := bytes.TrimSpace(raw.Value); {
	case len(inner) == 0 || v.Unknown:
		return nil
	case inner[0] == '{':
		m := map[string]escValue{}
		defer func() { v.Value = m }()
		return json.Unmarshal(inner, &m)
	case inner[0] == '[':
		var list []escValue
		defer func() { v.Value = list }()
		return json.Unmarshal(inner, &list)
	default:
		numbers := json.NewDecoder(bytes.NewReader(inner))
		numbers.UseNumber()
		return numbers.Decode(&v.Value)
	}
}

// losesDigits reports whether an integer loses digits when it becomes a number of programs (L1.26).
func losesDigits(n json.Number) bool { return isFinite(n) && value.LosesDigits(n.String()) }

// notFinite says that a number is none of JSON and of programs.
const notFinite = "infinite numbers and NaN have no place in an environment"

// isFinite reports whether a number of programs can be as large.
func isFinite(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// roundedIn warns of the integers in a document that 64 bits do not hold: Pulumi ESC rounds them when it reads them.
func roundedIn(src *diag.Source) (diags diag.Diagnostics) {
	_, found := parser.Data(src)
	for _, d := range found {
		digits := strings.ReplaceAll(d.Subject.Text(), "_", "")
		_, signed := strconv.ParseInt(digits, 0, 64)
		_, unsigned := strconv.ParseUint(digits, 0, 64)
		if d.Code == diag.BadNumber && signed != nil && unsigned != nil {
			diags.Add(d)
		}
	}
	return diags
}

// hasNumber reports whether a number in the value has a property.
func (v escValue) hasNumber(has func(json.Number) bool) bool {
	inside := func(item escValue) bool { return item.hasNumber(has) }
	switch x := v.Value.(type) {
	case json.Number:
		return has(x)
	case []escValue:
		return slices.ContainsFunc(x, inside)
	case map[string]escValue:
		return slices.ContainsFunc(slices.Collect(maps.Values(x)), inside)
	}
	return false
}

// value returns the value of programs. With hide, a secret is unknown.
func (v escValue) value(hide bool, number func(json.Number) value.Value) value.Value {
	return valueOf(v.Value, v.Secret, v.Unknown || v.Secret && hide, number, func(item escValue) value.Value {
		return item.value(hide, number)
	})
}

// numberOf returns the number of programs for one of Pulumi ESC.
func numberOf(n json.Number) value.Value {
	f, _ := n.Float64()
	return value.Number(f)
}

// textOfNumber returns the text of a number of Pulumi ESC.
func textOfNumber(n json.Number) value.Value { return value.String(n.String()) }

// valueOf returns content in the form of Pulumi ESC, in which lists and maps consist of Items, as a value of programs.
func valueOf[Item any](content any, secret, unknown bool, number func(json.Number) value.Value,
	item func(Item) value.Value) (out value.Value) {
	switch x := content.(type) {
	case bool:
		out = value.Bool(x)
	case string:
		out = value.String(x)
	case json.Number:
		out = number(x)
	case []Item:
		items := make([]value.Value, len(x))
		for i, inner := range x {
			items[i] = item(inner)
		}
		out = value.List(items...)
	case map[string]Item:
		entries := make([]value.Entry, 0, len(x))
		for key, inner := range x {
			entries = append(entries, value.Entry{Key: key, Value: item(inner)})
		}
		out = value.MapOf(entries...)
	}
	if unknown {
		out = value.Unknown(value.KindAny)
	}
	if secret {
		out = out.Secret()
	}
	return out
}

// sent is the service's name for a document that the request contains.
const sent = "<yaml>"

// findings returns the faults of a document that a service has refused; nil for any other error.
func findings(err error, src *diag.Source) (list diag.Diagnostics) {
	refused, ok := errors.AsType[*serviceapi.StatusError](err)
	if !ok || refused.Status != http.StatusBadRequest {
		return nil
	}
	var answer struct {
		Diagnostics []struct {
			Range *struct {
				Environment string
				Begin, End  diag.Position
			}
			Summary, Detail, Severity string
		}
	}
	if json.Unmarshal(refused.Answer, &answer) != nil {
		return nil
	}
	for _, f := range answer.Diagnostics {
		d := diag.Diagnostic{Code: diag.BadEnvironment, Severity: diag.Error, Subject: diag.NewRange(src, 0, 0),
			Summary: printable.Short(withoutText(f.Summary), 300), Detail: printable.Short(f.Detail, 2000)}
		if f.Severity == "warning" {
			d.Severity = diag.Warning
		}
		if rng := f.Range; rng != nil && rng.Environment == sent {
			start := src.Offset(rng.Begin)
			d.Subject = diag.NewRange(src, start, max(start, src.Offset(rng.End)))
		} else if rng != nil {
			d.Detail = strings.TrimSpace(fmt.Sprintf("%s\nin the environment %s, line %d", d.Detail,
				printable.Short(rng.Environment, 300), rng.Begin.Line))
		}
		list.Add(d)
	}
	return list
}

// withoutText returns a message of the evaluator about a text that cannot be decoded without the reason, which repeats
// characters of the text: that may be a secret.
func withoutText(summary string) string {
	what, _, _ := strings.Cut(summary, " string: ")
	if what, cannot := strings.CutPrefix(what, "decoding "); cannot {
		return "the text is not " + what
	}
	return summary
}
