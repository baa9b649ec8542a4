package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	messageKeys   = []string{"level", "message", "resource", "if"}
	messageLevels = []string{"debug", "info", "warning", "error"}
)

// messageList reads the section `messages` (L10.C20), an extension of yamlhost. An item may be a text alone.
func (b *bodyReader) messageList(e entry) (list []*ast.Message) {
	b.with(e.value, e.via, func(n *node, rng diag.Range) {
		if n.kind != listNode {
			if !empty(n) {
				b.wrongKind(n, rng, "`messages`", "a list", "write a dash before each message: `- message: …`")
			}
			return
		}
		for _, item := range n.content {
			m := b.message(entry{key: item, value: item, at: b.span(item), name: "a message", from: b.nodeReader})
			m.Number()
			list = append(list, m)
		}
	})
	return list
}

func (b *bodyReader) message(e entry) *ast.Message {
	m := &ast.Message{Range: e.at}
	if isText(e.value.target()) {
		m.Text = b.expression(e)
		return m
	}
	b.section(e, "a message", func(n *node, rng diag.Range) {
		m.Range = rng
		b.fields(n, messageKeys, func(key string, e entry) {
			switch key {
			case "level":
				m.Level = b.choice(e, "`level`", messageLevels, "it is "+listing(messageLevels, " or "),
					"there is no level `%s`")
			case "message":
				m.Text = present(b.expression(e))
			case "resource":
				m.Resource = present(b.expression(e))
			case "if":
				m.If = present(b.expression(e))
			}
		}, func(e entry) { b.unknownKey(diag.Error, e, "a message", messageKeys, "") })
	})
	if m.Text == nil {
		b.fail(diag.RequiredMissing, m.Range, "add `message: …`", "this message has no text")
	}
	return m
}
