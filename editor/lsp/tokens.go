package lsp

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// tokenTypes holds the protocol's token type for each kind.
var tokenTypes = []string{
	editor.KeywordToken: "keyword", editor.ConfigToken: "parameter",
	editor.VariableToken: "variable", editor.ResourceToken: "class",
	editor.OutputToken: "enumMember", editor.HookToken: "event",
	editor.TypeToken: "type", editor.FunctionToken: "function",
	editor.PropertyToken: "property", editor.OperatorToken: "operator",
}

// allTokens returns the tokens of a file.
func (s *server) allTokens(ctx context.Context, t text) (any, error) {
	parts, err := t.tokens(ctx)
	if parts == nil {
		return nil, err
	}
	data := tokenWriter{encoding: t.e}.behind(parts)
	return &protocol.SemanticTokens{ResultID: s.tokens.keep(t.path, parts), Data: data}, nil
}

// changedTokens returns the tokens of a file as edits of the last answer, or all tokens if the client has another one.
// The client sends the name of the answer that it has.
func (s *server) changedTokens(ctx context.Context, t text) (any, error) {
	prior, known := s.tokens.last(t.path, t.PreviousResultID)
	if !known {
		return s.allTokens(ctx, t)
	}
	parts, err := t.tokens(ctx)
	if parts == nil {
		return nil, err
	}
	return object{"resultId": s.tokens.keep(t.path, parts), "edits": tokenEdits(t.e, prior, parts)}, nil
}

// someTokens returns the tokens in a range of a file.
func someTokens(ctx context.Context, t text) (any, error) {
	parts, err := t.tokens(ctx)
	if parts == nil {
		return nil, err
	}
	start, end := t.selection()
	w := tokenWriter{encoding: t.e}
	for _, part := range parts {
		w.write(part, part.Touching(start, end))
	}
	return &protocol.SemanticTokens{Data: w.data}, nil
}

// tokens returns the tokens of a text in parts; nil only with an error.
func (t text) tokens(ctx context.Context) ([]editor.TokenPart, error) {
	parts, err := editor.TokenParts(ctx, t.snapshot, t.path)
	if err == nil && parts == nil {
		parts = []editor.TokenPart{}
	}
	return parts, err
}

// sentTokens keeps the last tokens of each file, so that later answers can contain changes only. It is safe for
// concurrent use.
type sentTokens struct {
	mu     sync.Mutex
	count  int                   // number of answers so far; guarded by mu
	byPath map[string]sentAnswer // last answer by path; guarded by mu
}

// sentAnswer is the last answer about a file, by the name that it was sent with.
type sentAnswer struct {
	name  string
	parts []editor.TokenPart
}

// keep stores an answer and returns its name.
func (t *sentTokens) keep(path string, parts []editor.TokenPart) (name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	name = strconv.Itoa(t.count)
	if t.byPath == nil {
		t.byPath = map[string]sentAnswer{}
	}
	t.byPath[path] = sentAnswer{name, parts}
	return name
}

// last returns the last answer for a path. known is false if it does not have that name.
func (t *sentTokens) last(path, name string) (parts []editor.TokenPart, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sent, answered := t.byPath[path]
	return sent.parts, answered && sent.name == name
}

// forget drops the answer about a closed file.
func (t *sentTokens) forget(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byPath, path)
}

// tokenSize is the number of numbers for each token: lines and columns after the previous one, length, type, modifiers.
const tokenSize = 5

// tokenWriter encodes the tokens of parts in source order.
type tokenWriter struct {
	encoding
	data         []uint32
	line, column int // position of the last token
}

// write adds tokens of a part.
func (w *tokenWriter) write(part editor.TokenPart, tokens []editor.Token) {
	if len(tokens) == 0 {
		return
	}
	text := part.Source.Text()
	line, column, i := part.Line, 0, 0 // position of offset i
	for _, token := range tokens {
		start, end := int(token.Start), int(token.End)
		if breaks := bytes.Count(text[i:start], []byte{'\n'}); breaks > 0 {
			line, column, i = line+breaks, 0, bytes.LastIndexByte(text[:start], '\n')+1
		}
		column += w.units(text[i:start])
		length, modifiers, behind := w.units(text[start:end]), uint32(0), column
		if token.Declared {
			modifiers = 1
		}
		if line == w.line {
			behind -= w.column
		}
		w.data = append(w.data, uint32(line-w.line), uint32(behind), uint32(length), uint32(token.Kind), modifiers)
		w.line, w.column = line, column
		column, i = column+length, end
	}
}

// count returns the number of tokens in parts.
func count(parts []editor.TokenPart) (tokens int) {
	for _, part := range parts {
		tokens += len(part.Tokens)
	}
	return tokens
}

// tokenEdits returns the edit that turns the tokens of before into those of after, or none if they are equal. It
// encodes only the parts that differ.
func tokenEdits(e encoding, before, after []editor.TokenPart) []protocol.SemanticTokensEdit {
	// Parts that are the same above and below the change are skipped by their pointers. The numbers of a token are
	// relative to the one before, so a part below may move by lines as long as all parts below it move equally.
	above := 0
	for above < min(len(before), len(after)) && before[above].PartTokens == after[above].PartTokens &&
		before[above].Line == after[above].Line {
		above++
	}
	start, last := tokenSize*count(after[:above]), tokenWriter{encoding: e}
	for _, part := range slices.Backward(after[:above]) {
		if n := len(part.Tokens); n > 0 {
			last.write(part, part.Tokens[n-1:])
			break
		}
	}
	before, after = before[above:], after[above:]
	below := 0
	for moved := 0; below < min(len(before), len(after)); below++ {
		b, a := before[len(before)-1-below], after[len(after)-1-below]
		if below == 0 {
			moved = a.Line - b.Line
		}
		if b.PartTokens != a.PartTokens || a.Line-b.Line != moved {
			break
		}
	}
	for first := false; below > 0 && !first; below-- { // the first token below is relative to the last one above
		first = len(after[len(after)-below].Tokens) > 0
	}
	was, now := last.behind(before[:len(before)-below]), last.behind(after[:len(after)-below])
	for len(was) > 0 && len(now) > 0 && was[0] == now[0] {
		was, now, start = was[1:], now[1:], start+1
	}
	for len(was) > 0 && len(now) > 0 && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	if len(was)+len(now) == 0 {
		return []protocol.SemanticTokensEdit{}
	}
	return []protocol.SemanticTokensEdit{{Start: start, DeleteCount: len(was), Data: now}}
}

// behind encodes the tokens of parts that follow the last written token.
func (w tokenWriter) behind(parts []editor.TokenPart) []uint32 {
	w.data = make([]uint32, 0, tokenSize*count(parts))
	for _, part := range parts {
		w.write(part, part.Tokens)
	}
	return w.data
}
