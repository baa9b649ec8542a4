package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// model is a random program: declarations that may refer to earlier ones.
type model struct {
	names  []string
	decls  map[string]decl
	region string // of the default provider's configuration
	zone   string // also of the configuration; a change replaces the provider
}

// form is the kind of a declaration.
type form string

const (
	plain     form = "resource"
	component form = "component"
	provides  form = "provider" // an explicit one
	read      form = "read"     // a read of an object that is managed elsewhere
)

// decl is one resource of a model. It refers to earlier declarations by name.
type decl struct {
	form     form
	parent   string
	provider string
	uses     map[string]string // by input, the resource that supplies its output "out"
	texts    map[string]string
	secret   string // name of the secret input

	depends, replaceWith []string
	deletedWith          string
	before               *bool // deleteBeforeReplace
	protect, retain      bool
	ignore, replaceOn    []string
	trigger              string
	importID             string // set in one version of the program only
	outputs              bool   // a component that registers outputs

	alias *alias // its former name and parent, if the previous version of the program had others
}

// alias is the former name and parent of a declaration.
type alias struct{ name, parent string }

var inputNames = []string{"v", "w", "repl", "dbr", "auto"}

// references calls fn for all names of other declarations in a declaration.
func (d *decl) references(fn func(name string) (now string, ok bool)) {
	one := func(name string) string { now, _ := fn(name); return now }
	many := func(names []string) (kept []string) {
		for _, name := range names {
			if now, ok := fn(name); ok {
				kept = append(kept, now)
			}
		}
		return kept
	}
	d.parent, d.provider, d.deletedWith = one(d.parent), one(d.provider), one(d.deletedWith)
	d.depends, d.replaceWith = many(d.depends), many(d.replaceWith)
	uses := map[string]string{}
	for key, owner := range d.uses {
		if now, ok := fn(owner); ok {
			uses[key] = now
		}
	}
	d.uses = uses
}

// edit returns the next version of a program: some resources are removed, changed, added, renamed or moved.
func (m model) edit(r *rand.Rand, next func() string) model {
	edited := model{decls: map[string]decl{}, region: m.region, zone: m.zone}
	if r.IntN(4) == 0 {
		edited.region = strconv.Itoa(r.IntN(5))
	}
	if r.IntN(12) == 0 {
		edited.zone = strconv.Itoa(r.IntN(5))
	}
	names := map[string]string{}
	for _, name := range m.names {
		if r.IntN(6) == 0 {
			continue
		}
		d := m.decls[name]
		former := alias{name, names[d.parent]}
		d.alias, d.importID = nil, ""
		d.references(func(owner string) (string, bool) { now, ok := names[owner]; return now, ok })
		now := name
		if d.form != read && r.IntN(8) == 0 {
			now = next()
		}
		if d.form == plain && r.IntN(12) == 0 && (m.decls[name].parent == "" || former.parent != "") {
			d.parent = edited.pick(r, plain, component)
		}
		if now != name || d.parent != former.parent {
			d.alias = &former
		}
		texts := map[string]string{}
		for key, text := range d.texts {
			if r.IntN(5) == 0 {
				text = strconv.Itoa(r.IntN(5))
			}
			texts[key] = text
		}
		d.texts = texts
		if r.IntN(8) == 0 {
			d.protect = !d.protect
		}
		if r.IntN(8) == 0 {
			d.retain = !d.retain
		}
		if d.form == plain && r.IntN(8) == 0 {
			d.trigger = strconv.Itoa(r.IntN(3))
		}
		names[name] = now
		edited.add(now, d)
	}
	for range r.IntN(5) {
		edited.add(next(), edited.random(r))
	}
	return edited
}

func (m *model) add(name string, d decl) { m.names, m.decls[name] = append(m.names, name), d }

// pick returns a random declaration of one of the forms, or "".
func (m *model) pick(r *rand.Rand, forms ...form) string {
	if len(m.names) == 0 || r.IntN(2) == 0 {
		return ""
	}
	if name := m.names[r.IntN(len(m.names))]; slices.Contains(forms, m.decls[name].form) {
		return name
	}
	return ""
}

// random returns a new declaration that may refer to the declarations of the program.
func (m *model) random(r *rand.Rand) decl {
	d := decl{form: plain, uses: map[string]string{}, texts: map[string]string{}}
	one := func(n int) bool { return r.IntN(n) == 0 }
	switch r.IntN(14) {
	case 0, 1:
		d.form, d.outputs = component, one(2)
	case 2:
		d.form = provides
	case 3:
		d.form = read
		return d
	}
	for _, key := range inputNames {
		switch owner := m.pick(r, plain, read); {
		case r.IntN(3) > 0:
		case owner != "":
			d.uses[key] = owner
		default:
			d.texts[key] = strconv.Itoa(r.IntN(5))
		}
	}
	if one(10) {
		d.secret = inputNames[r.IntN(len(inputNames))]
	}
	d.protect = one(10)
	if d.form == provides {
		return d
	}
	if one(2) {
		d.parent = m.pick(r, plain, component)
	}
	if d.form == component {
		return d
	}
	if one(3) {
		d.provider = m.pick(r, provides)
	}
	if one(5) {
		d.deletedWith = m.pick(r, plain)
	}
	if provider := m.pick(r, plain); provider != "" && one(5) {
		d.replaceWith = []string{provider}
	}
	if name := m.pick(r, plain, component, read, provides); name != "" && one(3) {
		d.depends = []string{name}
	}
	if one(5) {
		before := one(2)
		d.before = &before
	}
	if one(6) {
		d.ignore = []string{inputNames[r.IntN(len(inputNames))]}
	}
	if one(8) {
		d.replaceOn = []string{[]string{"v", "w", "*"}[r.IntN(3)]}
	}
	d.retain = one(10)
	return d
}

// importable returns the names of resources that can be imported. They depend on nothing: the engine refuses an import
// that is replaced in the same operation (E4.53).
func (m *model) importable() (names []string) {
	for _, name := range m.names {
		d := m.decls[name]
		if d.form == plain && d.parent == "" && d.provider == "" && d.deletedWith == "" && len(d.uses)+len(d.replaceWith)+
			len(d.depends)+len(d.replaceOn) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// run registers the program, each resource after its dependencies, and concurrently if asked.
func (m model) run(ctx context.Context, mon monitor.Monitor, concurrent bool) error {
	stack, err := mon.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	if err != nil {
		return err
	}
	p := &running{model: m, monitor: mon, stack: stack.URN, slots: map[string]*slot{}}
	for _, name := range m.names {
		p.slots[name] = &slot{done: make(chan struct{})}
	}
	var group sync.WaitGroup
	for _, name := range m.names {
		if concurrent {
			group.Go(func() { p.register(ctx, name) })
			continue
		}
		p.register(ctx, name)
	}
	group.Wait()
	for _, name := range m.names {
		if p.slots[name].err != nil {
			return p.slots[name].err
		}
	}
	return mon.RegisterOutputs(ctx, stack.URN, value.MapOf(value.Entry{Key: "n", Value: value.Int(len(m.names))}))
}

// running is a program in progress.
type running struct {
	model
	monitor monitor.Monitor
	stack   urn.URN
	slots   map[string]*slot
}

// slot holds the result of one declaration; done is closed when it is set.
type slot struct {
	done     chan struct{}
	response monitor.RegisterResponse
	err      error
}

func (p *running) register(ctx context.Context, name string) {
	d, s := p.decls[name], p.slots[name]
	defer close(s.done)
	answers := map[string]monitor.RegisterResponse{}
	d.references(func(owner string) (string, bool) {
		if owner != "" && s.err == nil {
			<-p.slots[owner].done
			answers[owner], s.err = p.slots[owner].response, p.slots[owner].err
		}
		return owner, owner != ""
	})
	if s.err != nil {
		return
	}
	if d.form == read {
		var answer monitor.ReadResponse
		answer, s.err = p.monitor.ReadResource(ctx, monitor.ReadRequest{Type: "test:index:Res", Name: name, Parent: p.stack,
			ID: value.String(othersObject), State: value.EmptyMap()})
		s.response = monitor.RegisterResponse{URN: answer.URN, ID: answer.ID, Outputs: answer.Outputs, Known: answer.Known}
		return
	}
	r := p.request(name, d, answers)
	if s.response, s.err = p.monitor.RegisterResource(ctx, r); s.err == nil && d.outputs &&
		s.response.Result == monitor.Succeeded {
		s.err = p.monitor.RegisterOutputs(ctx, s.response.URN, r.Inputs)
	}
}

// request returns the registration of a declaration, given the responses for its dependencies.
func (p *running) request(name string, d decl, answers map[string]monitor.RegisterResponse) monitor.RegisterRequest {
	r := monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: name, Parent: p.stack,
		DeleteBeforeReplace: d.before,
		IgnoreChanges:       d.ignore, ReplaceOnChanges: d.replaceOn, ImportID: d.importID}
	switch d.form {
	case component:
		r.Type, r.Custom = "my:index:Comp", false
	case provides:
		r.Type = "pulumi:providers:test"
	}
	if d.protect {
		r.Protect = &d.protect
	}
	if d.retain {
		r.RetainOnDelete = &d.retain
	}
	if d.trigger != "" {
		r.ReplacementTrigger = value.String(d.trigger)
	}
	if d.parent != "" {
		r.Parent = answers[d.parent].URN
	}
	if a := d.alias; a != nil {
		former := monitor.Alias{Name: a.name, NoParent: a.parent == ""}
		if a.parent != "" {
			<-p.slots[a.parent].done // its former parent is declared earlier too
			former.Parent = p.slots[a.parent].response.URN
		}
		r.Aliases = []monitor.Alias{former}
	}
	if d.provider != "" {
		id, ok := answers[d.provider].ID.AsString()
		if !ok {
			id = UnknownID
		}
		r.Provider = urn.Reference{URN: answers[d.provider].URN, ID: id}.String()
	}
	r.DeletedWith = answers[d.deletedWith].URN
	for _, owner := range d.replaceWith {
		r.ReplaceWith = append(r.ReplaceWith, answers[owner].URN)
	}
	for _, owner := range d.depends {
		r.Dependencies = append(r.Dependencies, answers[owner].URN)
	}
	inputs, byInput := map[string]value.Value{}, map[string][]urn.URN{}
	for key, text := range d.texts {
		inputs[key] = value.String(text)
		byInput[key] = nil
	}
	for _, key := range slices.Sorted(maps.Keys(d.uses)) {
		answer := answers[d.uses[key]]
		out, ok := answer.Outputs.Lookup("out")
		if !ok && !answer.Known {
			out = value.Unknown(value.KindString)
		}
		inputs[key] = out
		r.Dependencies = append(r.Dependencies, answer.URN)
		byInput[key] = []urn.URN{answer.URN}
	}
	r.PropertyDependencies = urn.DependenciesOf(byInput)
	if v, ok := inputs[d.secret]; ok {
		inputs[d.secret] = v.Secret()
	}
	r.Inputs = value.Map(inputs)
	return r
}

// String returns the program for the message of a failure.
func (m model) String() string {
	text := fmt.Sprintf("region %q, zone %q\n", m.region, m.zone)
	for _, name := range m.names {
		d := m.decls[name]
		text += fmt.Sprintf("%s %s:", d.form, name)
		note := func(what string, v any) {
			if s := fmt.Sprint(v); s != "" && s != "[]" && s != "map[]" && s != "false" {
				text += " " + what + "=" + s
			}
		}
		note("parent", d.parent)
		note("provider", d.provider)
		note("uses", d.uses)
		note("texts", d.texts)
		note("secret", d.secret)
		note("depends", d.depends)
		note("replaceWith", d.replaceWith)
		note("deletedWith", d.deletedWith)
		if d.before != nil {
			text += fmt.Sprintf(" before=%t", *d.before)
		}
		note("protect", d.protect)
		note("retain", d.retain)
		note("ignore", d.ignore)
		note("replaceOn", d.replaceOn)
		note("trigger", d.trigger)
		note("import", d.importID)
		if d.alias != nil {
			text += fmt.Sprintf(" was=%+v", *d.alias)
		}
		text += "\n"
	}
	return text
}
