package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// The commands that a user can run. Each takes the URI of a file.
const (
	graphCommand = "yamlhost.graph" // returns the dependency graph of the program as SVG
	planCommand  = "yamlhost.plan"  // returns a preview as text
)

// commands returns the names of the commands that the options provide.
func (s *server) commands() []string {
	var names []string
	if s.options.Graph != nil {
		names = append(names, graphCommand)
	}
	if s.options.Plan != nil {
		names = append(names, planCommand)
	}
	return names
}

// executeCommand runs one of the server's commands. A preview starts plugins and commands that the project names, so
// that it needs the client's word that the workspace is trusted. The graph starts nothing.
func (s *server) executeCommand(ctx context.Context, params *protocol.CommandParams) (any, error) {
	var asked string
	// A client may send anything as an argument, also for a command of another server.
	if len(params.Arguments) != 1 || json.Unmarshal(params.Arguments[0], &asked) != nil {
		return nil, protocol.Errorf(protocol.InvalidParams, "%s takes the URI of a file", params.Command)
	}
	parsed, err := uri.Parse(asked)
	if err != nil || !strings.HasPrefix(asked, "file:") {
		return nil, protocol.Errorf(protocol.InvalidParams, "%q is not the URI of a file", asked)
	}
	path, text := pathOf(parsed), ""
	switch {
	case params.Command == graphCommand && s.options.Graph != nil:
		p, err := snapshotOf(ctx).Program(ctx, path)
		if err != nil {
			return nil, protocol.Errorf(protocol.InvalidParams, "%v", err)
		}
		// Settings of a stack, for instance, belong to a project and have no graph.
		if p.Checked == nil {
			return nil, protocol.Errorf(protocol.InvalidParams, "%s is not a program", path)
		}
		var b bytes.Buffer
		if err := s.options.Graph(&b, p); err != nil {
			return nil, err
		}
		text = b.String()
	case params.Command == planCommand && s.options.Plan != nil:
		// The client says so when it connects; one that says nothing is not trusted.
		if !s.client.Load().trusted {
			return nil, protocol.Errorf(protocol.InvalidRequest,
				"the workspace is not trusted: a preview runs plugins and commands of the project")
		}
		if text, err = s.options.Plan(ctx, path); err != nil {
			return nil, protocol.Errorf(protocol.InternalError, "%v", err)
		}
	default:
		return nil, protocol.Errorf(protocol.InvalidParams, "there is no command %s", params.Command)
	}
	return text, nil
}
