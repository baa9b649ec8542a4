package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/schema"
)

var itemKinds = map[editor.ItemKind]int{
	editor.KeyItem: protocol.CompletionKeyword, editor.TypeItem: protocol.CompletionClass,
	editor.PropertyItem: protocol.CompletionProperty, editor.ValueItem: protocol.CompletionValue,
	editor.NameItem: protocol.CompletionVariable, editor.FunctionItem: protocol.CompletionFunction,
	editor.PackageItem: protocol.CompletionModule, editor.FileItem: protocol.CompletionFile,
}

// completer answers requests about what may be written.
type completer struct {
	*settings
	lists sentLists
}

// Completion returns what may be written at a position.
func (s *completer) Completion(ctx context.Context, params *protocol.PositionParams) (*protocol.CompletionList,
	error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.Complete(ctx, p.snapshot, p.path, p.offset)
	if err != nil {
		return nil, failed(ctx)
	}
	src := p.snapshot.Text(p.path).Source()
	word := protocol.Range{Start: p.e.position(src, found.Start), End: p.e.position(src, found.End)}
	list := &protocol.CompletionList{IsIncomplete: found.Partial, Items: make([]protocol.CompletionItem, 0,
		len(found.Items))}
	lists := s.lists.keep(found.Items, s.resolves())
	for i, item := range found.Items {
		shown := protocol.CompletionItem{Label: item.Label, Kind: itemKinds[item.Kind],
			SortText: fmt.Sprintf("%04d", i), FilterText: item.Label,
			TextEdit: protocol.TextEdit{Range: word, NewText: item.Insert}, Detail: item.Detail}
		if item.Docs != "" && lists == "" {
			shown.Documentation = protocol.Markdown(schema.Plain(item.Docs))
		} else if item.Docs != "" {
			shown.Data = json.RawMessage(fmt.Sprintf("[%s,%d]", lists, i))
		}
		if item.Deprecated {
			shown.Tags = []int{protocol.CompletionTagDeprecated}
		}
		list.Items = append(list.Items, shown)
	}
	return list, nil
}

// CompletionResolve adds what a list leaves out: the documentation of the item that a person looks at. Whatever else
// the client has written into the item stays.
func (s *completer) CompletionResolve(_ context.Context, item *object) (object, error) {
	if data, ok := (*item)["data"].([]any); ok && len(data) == 2 {
		list, _ := data[0].(float64)
		i, _ := data[1].(float64)
		if docs := s.lists.docs(int(list), int(i)); docs != "" {
			(*item)["documentation"] = protocol.Markdown(schema.Plain(docs))
		}
	}
	return *item, nil
}

// lazyDocsOf reports whether a client can ask for the documentation of single items.
func lazyDocsOf(capabilities protocol.Capabilities) bool {
	return slices.Contains(capabilities.TextDocument.Completion.CompletionItem.ResolveSupport.Properties, "documentation")
}

// sentLists keeps the last list of completions, for questions about its items. It is safe for concurrent use.
type sentLists struct {
	mu    sync.Mutex
	count int // of lists; guarded by mu, as what follows
	last  []editor.Item
}

// keep keeps a list and returns its name; empty if it will not be asked for.
func (l *sentLists) keep(items []editor.Item, asks bool) string {
	if !asks {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.last = items
	return strconv.Itoa(l.count)
}

// docs is the documentation of an item of a list; empty for one of an earlier list.
func (l *sentLists) docs(list, item int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list != l.count || item < 0 || item >= len(l.last) {
		return ""
	}
	return l.last[item].Docs
}
