package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/engine"
)

// palette paints text for a terminal, or leaves it alone.
type palette struct{ on bool }

type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "31"
	green  paint = "32"
	yellow paint = "33"
	blue   paint = "34"
	purple paint = "35"
	cyan   paint = "36"
)

func (p palette) paint(style paint, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// opStyle is how an operation looks: the sign in front of the line (E8.1), its colour, and what it is called while it
// runs, when it is done, and as a plan.
type opStyle struct {
	sign                   string
	color                  paint
	running, done, planned string
}

// opGone is how a refresh shows a resource that does not exist any more.
const opGone engine.Op = "gone"

var opStyles = map[engine.Op]opStyle{
	engine.OpSame:                 {" ", dim, "checking", "unchanged", "unchanged"},
	engine.OpCreate:               {"+", green, "creating", "created", "create"},
	engine.OpUpdate:               {"~", yellow, "updating", "updated", "update"},
	engine.OpDelete:               {"-", red, "deleting", "deleted", "delete"},
	engine.OpReplace:              {"+-", purple, "replacing", "replaced", "replace"},
	engine.OpCreateReplacement:    {"++", green, "creating replacement", "created replacement", "create replacement"},
	engine.OpDeleteReplaced:       {"--", red, "deleting original", "deleted original", "delete original"},
	engine.OpRead:                 {">", cyan, "reading", "read", "read"},
	engine.OpReadReplacement:      {">>", cyan, "reading replacement", "read replacement", "read replacement"},
	engine.OpRefresh:              {"~", yellow, "refreshing", "refreshed", "refresh"},
	opGone:                        {"-", red, "refreshing", "is gone", "is gone"},
	engine.OpDiscard:              {"<", dim, "discarding", "discarded", "discard"},
	engine.OpDiscardReplaced:      {"<<", dim, "discarding original", "discarded original", "discard original"},
	engine.OpRemovePendingReplace: {" ", dim, "completing replacement", "completed replacement", "complete replacement"},
	engine.OpImport:               {"=", blue, "importing", "imported", "import"},
	engine.OpImportReplacement:    {"=>", blue, "importing replacement", "imported replacement", "import replacement"},
}

// summaryOrder is the order of the counts in the summary.
var summaryOrder = []engine.Op{engine.OpCreate, engine.OpImport, engine.OpUpdate, engine.OpReplace, engine.OpDelete,
	engine.OpDiscard, engine.OpRead, engine.OpSame}

// Seconds is a duration as people read it; empty for one that is not worth a word.
func Seconds(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	default:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// ShortType returns a type token without its repetitions: random:index/randomPet:RandomPet is random:RandomPet. A
// module such as core/v1 stays whole, since the version tells types apart.
func ShortType(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module := parts[1]
	if i := strings.LastIndexByte(module, '/'); i >= 0 && strings.EqualFold(module[i+1:], parts[2]) {
		module = module[:i]
	}
	if module == "index" || module == "" {
		return parts[0] + ":" + parts[2]
	}
	return parts[0] + ":" + module + ":" + parts[2]
}
