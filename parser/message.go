package parser

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	messageKeys   = []string{"level", "message", "resource", "if"}
	messageLevels = []string{"debug", "info", "warning", "error"}
)

// messageList reads the section `messages` (L10.C20), an extension of yamlhost. An item may be a text alone.
func (p *parser) messageList(e entry) (list []*ast.Message) {
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		if n.Kind != yaml.SequenceNode {
			if !empty(n) {
				p.wrongKind(n, at, "`messages`", "a list", "write a dash before each message: `- message: …`")
			}
			return
		}
		for _, item := range n.Content {
			m := p.message(entry{key: item, value: item, at: p.span(item), name: "a message", p: p})
			m.Number()
			list = append(list, m)
		}
	})
	return list
}

func (p *parser) message(e entry) *ast.Message {
	m := &ast.Message{Range: e.at}
	if isText(p.deref(e.value)) {
		m.Text = p.expression(e)
		return m
	}
	p.section(e, "a message", func(n *node, at diag.Range) {
		m.Range = at
		p.fields(n, messageKeys, func(key string, e entry) {
			switch key {
			case "level":
				m.Level = p.messageLevel(e)
			case "message":
				m.Text = p.present(p.expression(e))
			case "resource":
				m.Resource = p.present(p.expression(e))
			case "if":
				m.If = p.present(p.expression(e))
			}
		}, func(e entry) { p.unknownKey(diag.Error, e, "a message", messageKeys, "") })
	})
	if m.Text == nil {
		p.fail(diag.RequiredMissing, m.Range, "add `message: …`", "this message has no text")
	}
	return m
}

func (p *parser) messageLevel(e entry) *ast.Literal {
	literal := p.literalText(e, "`level`")
	if literal == nil || slices.Contains(messageLevels, literal.Value) {
		return literal
	}
	detail := "it is " + listing(messageLevels, " or ")
	if near := diag.Suggest(literal.Value, messageLevels); len(near) > 0 {
		detail = "did you mean " + anyOf(near) + "?"
	}
	p.fail(diag.NotInEnum, literal.Range, detail, "there is no level `%s`", shorten(literal.Value))
	return nil
}
