package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Query selects existing resources of one type.
type Query struct {
	Type     string // canonical
	Provider string // reference; empty for the package's default provider
	Package  monitor.Package
	Query    value.Value // a map: the filter for the provider
	Limit    int         // maximum number of results; 0 for no limit
}

// Found is an existing resource.
type Found = provider.Listed

// emptyPages is the maximum number of consecutive empty pages. A provider that filters the pages of a service returns
// some; more of them indicate an endless list.
const emptyPages = 1000

// List returns the existing objects for each query, in the provider's order and without duplicate IDs. It uses the
// configuration and the state of a stack and changes nothing: o holds the options of a preview. Its only events are
// messages about unusable providers.
func List(ctx context.Context, o Options, queries []Query) ([][]Found, error) {
	show := o.Events
	o.Events = func(e Event) {
		if m, ok := e.(*Message); ok && show != nil {
			show(m)
		}
	}
	found := make([][]Found, len(queries))
	var fault error
	op, err := begin(ctx, o, updating)
	if err != nil {
		return nil, err
	}
	defer op.release()
	defer op.guard()
	if op.start() {
		found, fault = op.importer.list(ctx, queries)
	}
	_, err = op.finish()
	if err := cmp.Or(err, ctx.Err(), fault); err != nil {
		return nil, err
	}
	return found, nil
}

// list answers each query through the provider that an import of its type would use.
func (l *importer) list(ctx context.Context, queries []Query) ([][]Found, error) {
	if err := l.begin(ctx); err != nil {
		return nil, err
	}
	asIf := make([]Import, len(queries))
	for n, q := range queries {
		asIf[n] = Import{Type: q.Type, Provider: q.Provider, Package: q.Package}
	}
	refs, err := l.importProviders(ctx, asIf)
	if err != nil {
		return nil, err
	}
	found := make([][]Found, len(queries))
	for n, q := range queries {
		i, err := l.registry.Get(refs[n])
		switch {
		case err != nil:
			return nil, err
		case i.Unconfigured:
			return nil, fmt.Errorf("the configuration of the provider of %s is not known yet", q.Type)
		}
		if err := l.registry.Extend(i, asIf[n].extension, urn.URN(q.Type)); err != nil {
			return nil, err
		}
		if found[n], err = l.listPages(i.Configured, q); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listPages requests page after page from a provider. It returns an error if the list does not end, or has a resource
// without an ID.
func (l *importer) listPages(p provider.Configured, q Query) ([]Found, error) {
	var found []Found
	ids, pages, empty := map[string]bool{}, map[string]bool{}, 0
	request := provider.ListRequest{Type: q.Type, Query: q.Query, Limit: q.Limit}
	for l.running.Err() == nil {
		page, err := provider.List(l.calls, p, request)
		if err != nil {
			return nil, l.listFault(q.Type, err)
		}
		if page.Unknown {
			return nil, fmt.Errorf("the provider of %s cannot list its resources yet", q.Type)
		}
		for _, f := range page.Resources {
			if f.ID == "" {
				return nil, fmt.Errorf("the provider lists a %s that has no ID", q.Type)
			}
			if ids[f.ID] {
				continue
			}
			if len(found) == provider.MaxListed {
				return nil, fmt.Errorf("there are more than %d of %s: set a limit, or narrow the query", provider.MaxListed,
					q.Type)
			}
			ids[f.ID] = true
			if found = append(found, f); len(found) == q.Limit {
				return found, nil
			}
		}
		if page.Continuation == "" {
			return found, nil
		}
		if empty++; len(page.Resources) > 0 {
			empty = 0
		}
		if pages[page.Continuation] || empty > emptyPages {
			return nil, fmt.Errorf("the provider's list of %s does not end: it repeats a page, or returns empty pages", q.Type)
		}
		pages[page.Continuation] = true
		request.Continuation = page.Continuation
		if q.Limit > 0 {
			request.Limit = q.Limit - len(found)
		}
	}
	return nil, l.running.Err()
}

// listFault returns the error for a failed list, with advice if the provider does not implement listing.
func (l *importer) listFault(token string, err error) error {
	if crash, ok := errors.AsType[*provider.CrashError](err); ok {
		return fmt.Errorf("list %s: %s", token, l.report.crashText(crash))
	}
	if fault, ok := errors.AsType[*provider.Error](err); ok && fault.Unimplemented {
		return fmt.Errorf("the provider cannot list %s: name resources by their IDs instead, with `import TYPE NAME ID` or "+
			"`import --file` (%w)", token, err)
	}
	return fmt.Errorf("list %s: %w", token, err)
}
