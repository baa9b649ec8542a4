package dynamic

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
)

var (
	// nodeFrame matches a line of a JavaScript stack: "at create (/p/label.ts:12:5)" or "at /p/label.ts:12:5".
	nodeFrame = lazyregexp.New(`(?m)^\s+at .*?\(?([^\s()]+):(\d+):(\d+)\)?$`)
	// pythonFrame matches a line of a traceback: File "label.py", line 12.
	pythonFrame = lazyregexp.New(`File "([^"]+)", line (\d+)`)
)

// place returns the innermost line of the author's code in a stack, as file:line; "" if the stack has none.
func (s *Source) place(stack string) string {
	if s.Language == bundle.Python {
		found := ""
		for _, m := range pythonFrame().FindAllStringSubmatch(stack, -1) { // the innermost frame is the last
			if m[1] == s.File || strings.Contains(s.Code, `"`+m[1]+`":`) {
				found = m[1] + ":" + m[2]
			}
		}
		return found
	}
	entry := filepath.ToSlash(s.File)
	for _, m := range nodeFrame().FindAllStringSubmatch(stack, -1) {
		if !strings.HasSuffix(filepath.ToSlash(m[1]), path.Clean(entry)) {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		if s.Map == nil {
			return entry // lines of the bundle would mislead
		}
		if file, n, ok := s.Map.Source(line, max(column-1, 0)); ok {
			if strings.Contains(file, "node_modules/") {
				continue
			}
			return fmt.Sprintf("%s:%d", file, n)
		}
	}
	return ""
}
