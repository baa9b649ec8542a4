// Package drawer is a provider for crash tests. Its objects are files in a folder, so that they can be compared with a
// state after any process was killed. A log in the folder records every change in order.
package drawer

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

//go:embed schema.json
var schema []byte

// Object is one object in a drawer.
type Object struct {
	ID       string `json:"id"`
	URN      string `json:"urn"`
	Title    string `json:"title"`
	Kind     string `json:"kind"`
	Revision int    `json:"revision"`
}

// Provider keeps objects in the folder Dir. It is safe for concurrent use, once it has its parameters.
type Provider struct {
	provider.Plain
	Dir   string
	made  string               // the name of the package that it became by its parameters; empty for drawer
	Delay func() time.Duration // the delay before and after a change; nil for none
	// Reached is called at the moments of a change of an object, such as "create begun" and "create done".
	Reached func(moment, name string)
}

var (
	_ provider.Provider   = (*Provider)(nil)
	_ provider.Configured = (*Provider)(nil)
	_ provider.Lister     = (*Provider)(nil)
)

// Objects returns all objects in a folder.
func Objects(dir string) ([]Object, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var list []Object
	for _, path := range paths {
		o, err := load(path)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// Overlaps returns the stacks that two providers changed at the same time: in the log of a folder, one provider
// continues after the other has begun. Each run has a provider process of its own, so two runs overlapped. turns is the
// number of providers that changed something.
func Overlaps(dir string) (stacks []string, turns int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return nil, 0, err
	}
	last := map[string]string{}          // the last process that changed a stack
	seen := map[string]map[string]bool{} // all processes that changed it
	for line := range strings.Lines(string(text)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(words) < 4 {
			return nil, 0, fmt.Errorf("the log has a line %q", line)
		}
		process, name := words[2], urn.URN(words[3])
		stack := name.Project() + "/" + name.Stack()
		if last[stack] == process {
			continue
		}
		if seen[stack] == nil {
			seen[stack] = map[string]bool{}
		}
		if seen[stack][process] && !slices.Contains(stacks, stack) {
			stacks = append(stacks, stack)
		}
		last[stack], seen[stack][process] = process, true
		turns++
	}
	return stacks, turns, nil
}

func load(path string) (o Object, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

func (p *Provider) path(id string) string { return filepath.Join(p.Dir, filepath.Base(id)+".json") }

// save writes an object atomically and logs the change.
func (p *Provider) save(what string, o Object) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := p.path(o.ID) + "~"
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return err
	}
	if err := p.note(what, o); err != nil { // logged first, so that every existing object is in the log
		return err
	}
	return os.Rename(tmp, p.path(o.ID))
}

func (p *Provider) note(what string, o Object) error {
	f, err := os.OpenFile(filepath.Join(p.Dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s %d %s\n", what, o.ID, os.Getpid(), o.URN)
	return errors.Join(err, f.Close())
}

// around adds the delays and the calls of Reached to a change.
func (p *Provider) around(ctx context.Context, what string, o Object, change func() error) error {
	if err := p.note("begin-"+what, o); err != nil {
		return err
	}
	name := urn.URN(o.URN).Name()
	wait := func() {
		if p.Delay != nil {
			select {
			case <-time.After(p.Delay()):
			case <-ctx.Done():
			}
		}
	}
	reached := func(moment string) {
		if p.Reached != nil {
			p.Reached(what+" "+moment, name)
		}
	}
	reached("begun")
	wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	reached("done")
	wait()
	return nil
}

func outputs(o Object) value.Value {
	return value.MapOf(value.Entry{Key: "title", Value: value.String(o.Title)},
		value.Entry{Key: "kind", Value: value.String(o.Kind)},
		value.Entry{Key: "revision", Value: value.Int(o.Revision)},
		value.Entry{Key: "tag", Value: value.String("tag-" + o.Title)})
}

func inputs(o Object) value.Value { return outputs(o).Without("revision").Without("tag") }

func text(v value.Value, key string) string {
	part, _ := v.Lookup(key)
	s, _ := part.AsString()
	return s
}

// Create creates an object with a new ID.
func (p *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if r.Preview {
		return provider.CreateResponse{Outputs: r.Inputs}, nil
	}
	o := Object{ID: r.Name + "-" + strings.ToLower(rand.Text()[:10]), URN: string(r.URN), Title: text(r.Inputs, "title"),
		Kind: text(r.Inputs, "kind"), Revision: 1}
	err := p.around(ctx, "create", o, func() error { return p.save("create", o) })
	return provider.CreateResponse{ID: o.ID, Outputs: outputs(o)}, err
}

// Read reads an object.
func (p *Provider) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	o, err := load(p.path(r.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return provider.ReadResponse{}, nil
	}
	return provider.ReadResponse{ID: r.ID, Inputs: inputs(o), Outputs: outputs(o)}, err
}

// page is the largest number of objects in one answer of List.
const page = 100

// List returns the objects in the order of their IDs. If the query names a kind, it returns only objects of that kind.
func (p *Provider) List(_ context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	all, err := Objects(p.Dir)
	if err != nil {
		return provider.ListResponse{}, err
	}
	slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.ID, b.ID) })
	var answer provider.ListResponse
	for _, o := range all {
		kind := text(r.Query, "kind")
		switch {
		case o.ID <= r.Continuation || kind != "" && o.Kind != kind:
			continue
		case len(answer.Resources) == page:
			answer.Continuation = answer.Resources[page-1].ID
			return answer, nil
		}
		answer.Resources = append(answer.Resources, provider.Listed{ID: o.ID, Name: o.Title})
	}
	return answer, nil
}

// Update changes an object, which must exist.
func (p *Provider) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if r.Preview {
		return provider.UpdateResponse{Outputs: r.News}, nil
	}
	o, err := load(p.path(r.ID))
	if err != nil {
		return provider.UpdateResponse{}, fmt.Errorf("there is no object %s to update", r.ID)
	}
	o.Title, o.Kind, o.Revision = text(r.News, "title"), text(r.News, "kind"), o.Revision+1
	err = p.around(ctx, "update", o, func() error { return p.save("update", o) })
	return provider.UpdateResponse{Outputs: outputs(o)}, err
}

// Delete removes an object. It fails for a missing one, because deleting twice is a fault of the engine.
func (p *Provider) Delete(ctx context.Context, r provider.DeleteRequest) error {
	o := Object{ID: r.ID, URN: string(r.URN)}
	return p.around(ctx, "delete", o, func() error {
		if _, err := load(p.path(r.ID)); err != nil {
			return fmt.Errorf("there is no object %s to delete", r.ID)
		}
		if err := p.note("delete", o); err != nil {
			return err
		}
		return os.Remove(p.path(r.ID))
	})
}

// Check accepts all inputs.
func (p *Provider) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	return provider.CheckResponse{Inputs: r.News}, nil
}

// Diff replaces an object of another kind.
func (p *Provider) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	answer := provider.DiffResponse{Changes: provider.DiffNone}
	for _, key := range []string{"title", "kind"} {
		was, _ := r.OldInputs.Lookup(key)
		if is, _ := r.News.Lookup(key); !value.SameContent(was, is) {
			answer.Changes, answer.Diffs = provider.DiffSome, append(answer.Diffs, key)
			if key == "kind" {
				answer.Replaces = []string{key}
			}
		}
	}
	return answer, nil
}

// Info names the provider.
func (p *Provider) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "drawer", Version: "1.0.0"}, nil
}

// Parameterize turns the provider into the package that its only parameter names: the same drawer under another name.
func (p *Provider) Parameterize(_ context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	switch {
	case r.Name != "":
		p.made = string(r.Value)
	case len(r.Args) == 1:
		p.made = r.Args[0]
	default:
		return provider.ParameterizeResponse{}, errors.New("drawer takes one parameter, the name of a package")
	}
	return provider.ParameterizeResponse{Name: p.made, Version: madeVersion}, nil
}

// madeVersion is the version of the packages that the drawer becomes.
const madeVersion = "3.0.0"

// Schema returns the package's schema.
func (p *Provider) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	if p.made == "" {
		return schema, nil
	}
	var made map[string]json.RawMessage
	err := json.Unmarshal(bytes.ReplaceAll(schema, []byte("drawer:"), []byte(p.made+":")), &made)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(p.made)
	if err != nil {
		return nil, err
	}
	parameters, err := json.Marshal(map[string]any{"parameter": []byte(p.made),
		"baseProvider": map[string]string{"name": "drawer", "version": "1.0.0"}})
	if err != nil {
		return nil, err
	}
	made["name"], made["parameterization"], made["version"] = name, parameters, json.RawMessage(`"`+madeVersion+`"`)
	return json.Marshal(made)
}

// Configure needs nothing.
func (p *Provider) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return p, nil
}
