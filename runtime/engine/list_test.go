package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// catalogue is a provider whose list requests are answered by a function.
type catalogue struct {
	*process
	list func(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error)
}

func (c catalogue) Load(context.Context, provider.Package) (provider.Provider, error) { return c, nil }

func (c catalogue) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return c, nil
}

func (c catalogue) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	return c.list(ctx, r)
}

func (c catalogue) Close() error { return nil }

// listed sends one query to a catalogue, in a stack without a state.
func listed(ctx context.Context, q Query,
	list func(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error)) ([]Found, error) {
	q.Type = "test:index:Res"
	c := catalogue{&process{cloud: newCloud(), name: "test"}, list}
	found, err := List(ctx, Options{Project: "p", Stack: "dev", DryRun: true, Providers: c, Config: map[string]string{}},
		[]Query{q})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// pagesOf returns a list function for n resources in pages of the given size.
func pagesOf(n, size int, seen *[]provider.ListRequest) func(context.Context, provider.ListRequest) (provider.ListResponse,
	error) {
	return func(_ context.Context, r provider.ListRequest) (page provider.ListResponse, err error) {
		*seen = append(*seen, r)
		from := 0
		if r.Continuation != "" {
			from, err = strconv.Atoi(r.Continuation)
		}
		for k := from; k < min(from+size, n); k++ {
			page.Resources = append(page.Resources, Found{ID: fmt.Sprint(k), Name: "r" + fmt.Sprint(k)})
		}
		if from+size < n {
			page.Continuation = fmt.Sprint(from + size)
		}
		return page, err
	}
}

// A list is read page by page with the same query, until its end or the limit.
func TestList(t *testing.T) {
	t.Parallel()
	query := value.Map(map[string]value.Value{"kind": value.String("k")})
	for name, c := range map[string]struct {
		limit, there, size, want, pages int
	}{
		"nothing":                    {0, 0, 10, 0, 1},
		"one page":                   {0, 3, 10, 3, 1},
		"ten thousand on many":       {0, 10_000, 100, 10_000, 100},
		"ten thousand on one":        {0, 10_000, 10_000, 10_000, 1},
		"a limit inside of a page":   {5, 100, 3, 5, 2},
		"a limit at the end of one":  {6, 100, 3, 6, 2},
		"more wanted than there are": {7, 3, 2, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []provider.ListRequest
			found, err := listed(t.Context(), Query{Query: query, Limit: c.limit}, pagesOf(c.there, c.size, &seen))
			require.NoError(t, err)
			require.Len(t, found, c.want)
			require.Len(t, seen, c.pages)
			for n, r := range seen {
				require.Equal(t, "test:index:Res", r.Type)
				require.True(t, value.SameContent(query, r.Query))
				if c.limit > 0 {
					require.Equal(t, c.limit-n*c.size, r.Limit)
				}
			}
		})
	}
}

// Endless lists, and objects that cannot be imported, are errors.
func TestHostileLists(t *testing.T) {
	t.Parallel()
	calls := 0
	for name, c := range map[string]struct {
		list func(context.Context, provider.ListRequest) (provider.ListResponse, error)
		want string
	}{
		"no ID": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{Resources: []Found{{Name: "a"}}}, nil
		}, "lists a test:index:Res that has no ID"},
		"a circle": {func(_ context.Context, r provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{Resources: []Found{{ID: "1"}}, Continuation: "again"}, nil
		}, "does not end"},
		"empty pages for ever": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			calls++
			return provider.ListResponse{Continuation: fmt.Sprint(calls)}, nil
		}, "does not end"},
		"too many": {func(_ context.Context, r provider.ListRequest) (provider.ListResponse, error) {
			page := provider.ListResponse{Continuation: r.Continuation + "x"}
			for k := range provider.MaxListed/4 + 1 {
				page.Resources = append(page.Resources, Found{ID: page.Continuation + fmt.Sprint(k)})
			}
			return page, nil
		}, "more than 100000 of test:index:Res: set a limit"},
		"not known yet": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{Unknown: true}, nil
		}, "cannot list its resources yet"},
		"refused": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{}, errors.New("no permission")
		}, "list test:index:Res: no permission"},
		"not known at all": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{}, &provider.Error{Unimplemented: true, Message: "what is that"}
		}, "the provider cannot list test:index:Res: name resources by their IDs instead"},
		"a crash": {func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			return provider.ListResponse{}, &provider.CrashError{Plugin: "test", Exit: "exit status 2"}
		}, "plugin test stopped unexpectedly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := listed(t.Context(), Query{}, c.list)
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("one ID twice", func(t *testing.T) {
		t.Parallel()
		found, err := listed(t.Context(), Query{},
			func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
				return provider.ListResponse{Resources: []Found{{ID: "1", Name: "a"}, {ID: "1", Name: "b"}, {ID: "2"}}}, nil
			})
		require.NoError(t, err)
		require.Equal(t, []Found{{ID: "1", Name: "a"}, {ID: "2"}}, found)
	})
	t.Run("an interrupt", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		_, err := listed(ctx, Query{}, func(context.Context, provider.ListRequest) (provider.ListResponse, error) {
			stop()
			return provider.ListResponse{Resources: []Found{{ID: "1"}}}, nil
		})
		require.ErrorIs(t, err, context.Canceled)
	})
}
