package lsp

import (
	"context"
	"encoding/json"
	"fmt"
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

// completion returns the completions at a position.
func (s *server) completion(ctx context.Context, t text) (any, error) {
	found, err := editor.Complete(ctx, t.snapshot, t.path, t.offset())
	if err != nil {
		return nil, err
	}
	// One range for all items, the word at the cursor, as clients replace it while the user goes on typing.
	word := protocol.Range{Start: t.e.position(t.src, found.Start), End: t.e.position(t.src, found.End)}
	list := &protocol.CompletionList{IsIncomplete: found.Partial, Items: make([]protocol.CompletionItem, 0,
		len(found.Items))}
	// Documentation is most of an answer, and only that of the selected item is read.
	lists := s.lists.keep(found.Items, s.client.Load().lazyDocs)
	for i, item := range found.Items {
		// Clients sort by SortText, which keeps the order of editor.Complete.
		shown := protocol.CompletionItem{Label: item.Label, Kind: itemKinds[item.Kind],
			SortText: fmt.Sprintf("%04d", i), FilterText: item.Label,
			TextEdit: protocol.TextEdit{Range: word, NewText: t.src.WithBreaks(item.Insert)}, Detail: item.Detail}
		if item.Docs != "" && lists == "" {
			shown.Documentation = protocol.Markdown(schema.Plain(item.Docs))
		} else if item.Docs != "" {
			// Clients return it unchanged when they ask for the item.
			shown.Data = json.RawMessage(fmt.Sprintf("[%s,%d]", lists, i))
		}
		if item.Deprecated {
			shown.Tags = []int{protocol.CompletionTagDeprecated}
		}
		list.Items = append(list.Items, shown)
	}
	return list, nil
}

// resolveCompletion adds the documentation to a selected item, since lists leave it out. It returns all other fields of
// the item unchanged.
func (s *server) resolveCompletion(_ context.Context, item *object) (any, error) {
	if data, ok := (*item)["data"].([]any); ok && len(data) == 2 {
		// Numbers of JSON; whatever else a client sends is 0, which is no list.
		list, _ := data[0].(float64)
		i, _ := data[1].(float64)
		if docs := s.lists.docs(int(list), int(i)); docs != "" {
			(*item)["documentation"] = protocol.Markdown(schema.Plain(docs))
		}
	}
	return *item, nil
}

// sentLists keeps the last list of completions to resolve its items. It is safe for concurrent use.
type sentLists struct {
	mu    sync.Mutex
	count int           // number of lists so far; guarded by mu
	last  []editor.Item // guarded by mu
}

// keep stores a list and returns its number; "" if the client never resolves items.
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

// docs returns the documentation of an item of a list; "" if the list is not the last one.
func (l *sentLists) docs(list, item int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list != l.count || item < 0 || item >= len(l.last) {
		return ""
	}
	return l.last[item].Docs
}
