package dynamic

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Options are the settings of dynamic providers.
type Options struct {
	Dir            string   // working directory of the processes; absolute
	Environ        []string // environment as "name=value"; processes get a part of it
	Path           []string // folders searched for node and python3
	Project, Stack string
	// Config is the whole configuration by full key, secrets in plain text, and ConfigHasSecrets whether there are any.
	// NewLoader's loader prefers those of the package.
	Config           map[string]string
	ConfigHasSecrets bool
	// Log receives each line that the author's code prints; nil drops the lines. It is called concurrently.
	Log func(LogLine)
	// SuppressSecretOutput withholds what a process prints, from Log and from errors, once it has got a secret: the
	// code may keep it and print it at any later time.
	SuppressSecretOutput bool
	// Maps returns the source map for a digest, used in errors; nil if there are no maps.
	Maps func(digest string) *bundle.Map
	// Supervisor is the command line of a process that kills the author's code and its children when this process ends
	// (supervise.Start); nil for none.
	Supervisor []string
	// Timeout limits calls without a timeout of their own; 0 means ten minutes.
	Timeout time.Duration
}

// LogLine is one line that the author's code printed.
type LogLine struct {
	URN      urn.URN // resource of the call that printed the line; empty if unknown
	Severity string  // debug, info, warning or error
	Secret   bool    // whether the process that printed the line has got a secret
	Text     string
}

// NewLoader returns a loader of providers whose code is in their inputs. It is safe for concurrent use. Load returns a
// *provider.MissingError for other packages.
func NewLoader(o Options) provider.Loader { return loader{o} }

type loader struct{ options Options }

func (l loader) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != Package || p.Parameterization != nil {
		return nil, &provider.MissingError{Package: p.Name, Version: p.Version}
	}
	o := l.options
	if p.Config != nil {
		o.Config, o.ConfigHasSecrets = p.Config, p.ConfigHasSecrets
	}
	return &loaded{options: o}, nil
}

// loaded is a provider before its configuration.
type loaded struct {
	options Options

	mu         sync.Mutex
	configured *configured // guarded by mu
	closed     bool        // guarded by mu
}

var _ provider.Provider = (*loaded)(nil)

func (l *loaded) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: Package}, nil
}

func (l *loaded) Parameterize(context.Context, provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	return provider.ParameterizeResponse{}, unimplemented("a dynamic provider takes no parameters")
}

func (l *loaded) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return nil, unimplemented("the program declares the types of its dynamic providers")
}

// CheckConfig accepts all inputs.
func (l *loaded) CheckConfig(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if r.News.IsNull() {
		return provider.CheckResponse{Inputs: value.EmptyMap()}, nil
	}
	return provider.CheckResponse{Inputs: r.News}, nil
}

// DiffConfig replaces the provider if its code changes and a type has OnCodeChange Replace. The old provider keeps its
// code and deletes the resources that it created.
func (l *loaded) DiffConfig(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	response := provider.DiffResponse{Changes: provider.DiffNone, Detailed: map[string]provider.PropertyDiff{}}
	for _, key := range []string{inputSource, inputLanguage, inputDigest, inputEnv, inputTypes} {
		if value.Equal(r.OldInputs.Get(key).DeepPublic(), r.News.Get(key).DeepPublic()) {
			continue
		}
		response.Changes = provider.DiffSome
		response.Diffs = append(response.Diffs, key)
		response.Detailed[key] = provider.PropertyDiff{Kind: provider.DiffUpdate, InputDiff: true}
		if key != inputDigest {
			continue
		}
		if d, err := definitionOf(r.News.DeepPublic(), nil); err == nil && d.replaces() {
			response.Replaces = []string{key}
			response.Detailed[key] = provider.PropertyDiff{Kind: provider.DiffUpdateReplace, InputDiff: true}
		}
	}
	return response, nil
}

// Configure reads the definition from the inputs. It starts no process.
func (l *loaded) Configure(_ context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	d, err := definitionOf(r.Inputs.DeepPublic(), l.options.Maps)
	if err != nil {
		return nil, &provider.Error{Message: err.Error()}
	}
	return l.ready(d), nil
}

func (l *loaded) ready(d Definition) provider.Configured {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := newConfigured(l, d)
	if l.closed {
		c.close()
	}
	l.configured = c
	return c
}

// Cancel ends the calls in flight.
func (l *loaded) Cancel(context.Context) error { return l.Close() }

// Close ends all processes.
func (l *loaded) Close() error {
	l.mu.Lock()
	c := l.configured
	l.closed = true
	l.mu.Unlock()
	if c != nil {
		c.close()
	}
	return nil
}

// refusing returns the error for functions, methods and components.
func refusing(what string) error { return unimplemented("a dynamic provider has no " + what) }

func unimplemented(message string) error {
	return &provider.Error{Message: message, Unimplemented: true}
}

// typeName returns the last part of a type token.
func typeName(token string) string { return token[strings.LastIndexByte(token, ':')+1:] }
