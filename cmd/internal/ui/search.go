package ui

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// hit is a resource found by a search.
type hit struct {
	Stack string `json:"stack"` // project and stack
	URN   string `json:"urn"`
	Where string `json:"where,omitempty"` // the line with the match, if it is not the name or type
}

type hits struct {
	Hits   []hit    `json:"hits"`
	More   bool     `json:"more,omitempty"`
	Faults []string `json:"faults,omitempty"` // stacks that could not be read
}

const mostHits = 200

// search looks for words in the resources of all stacks. A word may be type:…, name:…, id:… or stack:…; any other word
// is searched in name, type, ID and properties. All words must match.
func (s *Server) search(ctx context.Context, q query) (any, error) {
	words := strings.Fields(strings.ToLower(q.Get("q")))
	out := &hits{Hits: []hit{}}
	if len(words) == 0 {
		return out, nil
	}
	refs, err := s.o.Backend.Stacks(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		name := ref.Project + "/" + ref.Stack
		rest, wanted := ofStack(words, strings.ToLower(name))
		if !wanted {
			continue
		}
		k, err := s.stacks.load(ctx, ref)
		if err != nil {
			out.Faults = append(out.Faults, name+": "+err.Error())
			continue
		}
		texts := k.texts()
		for i, r := range k.snapshot.Resources {
			where, found := matches(r, texts[i], rest)
			if !found {
				continue
			}
			if len(out.Hits) == mostHits {
				out.More = true
				return out, nil
			}
			out.Hits = append(out.Hits, hit{name, string(r.URN), where})
		}
	}
	return out, nil
}

// ofStack returns the words other than stack:…, and whether those match this stack.
func ofStack(words []string, name string) (rest []string, wanted bool) {
	for _, w := range words {
		text, found := strings.CutPrefix(w, "stack:")
		switch {
		case !found:
			rest = append(rest, w)
		case !strings.Contains(name, text):
			return nil, false
		}
	}
	return rest, true
}

// matches reports whether a resource with a search text contains all words, and where it contains the last one.
func matches(r *state.Resource, text string, words []string) (where string, found bool) {
	for _, w := range words {
		kind, part, special := strings.Cut(w, ":")
		field := ""
		switch kind {
		case "type":
			field = r.Type
		case "name":
			field = r.URN.Name()
		case "id":
			field = r.ID
		default:
			special = false
		}
		if special {
			if !strings.Contains(strings.ToLower(field), part) {
				return "", false
			}
			continue
		}
		i := strings.Index(text, w)
		if name, value, pair := strings.Cut(w, "="); i < 0 && pair { // property=value, in JSON
			i = strings.Index(text, `"`+name+`":"`+value)
			if i < 0 {
				i = strings.Index(text, `"`+name+`":`+value)
			}
		}
		if i < 0 {
			return "", false
		}
		if strings.Count(text[:i], "\n") >= 3 {
			where = around(text, i, len(w))
		}
	}
	return where, true
}

// around returns the part of a text around a match.
func around(text string, i, length int) string {
	const beside = 50
	return strings.ToValidUTF8(text[max(0, i-beside):min(len(text), i+length+beside)], "")
}
