package lsp

import (
	"context"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/editor"
)

// WillRenameFiles answers with the edits of texts that name files which are about to be renamed.
func (s *server) WillRenameFiles(ctx context.Context, params *protocol.RenameFilesParams) (*protocol.WorkspaceEdit,
	error) {
	all := map[string][]diag.Edit{}
	for _, file := range params.Files {
		from, err := uri.Parse(file.OldURI)
		if err != nil {
			continue
		}
		to, err := uri.Parse(file.NewURI)
		if err != nil {
			continue
		}
		edits, err := editor.Moved(ctx, moment(ctx), pathOf(from), pathOf(to))
		if err != nil {
			return nil, failed(ctx)
		}
		for path, list := range edits {
			all[path] = append(all[path], list...)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return workspaceEdit(s.encoding(), all), nil
}

var fileScheme = "file"

// fileOperations are the files whose renaming the server wants to know of: all of them, since programs name files of
// any kind.
func fileOperations() *protocol.WorkspaceOptions {
	return &protocol.WorkspaceOptions{FileOperations: &protocol.FileOperationOptions{
		WillRename: protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{
			{Scheme: &fileScheme, Pattern: protocol.FileOperationPattern{Glob: "**/*"}}}}}}
}

// DiagnosticWorkspace answers with the findings of all programs of which a text is open.
func (s *server) DiagnosticWorkspace(ctx context.Context, _ *protocol.WorkspaceDiagnosticParams) (
	*protocol.WorkspaceDiagnosticReport, error) {
	snapshot := moment(ctx)
	report := &protocol.WorkspaceDiagnosticReport{Items: []protocol.WorkspaceDocumentDiagnosticReport{}}
	told := map[string]bool{}
	for _, path := range snapshot.Paths() {
		found, err := editor.Diagnostics(ctx, snapshot, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // of a project that cannot be read
		}
		for other, list := range found {
			if told[other] {
				continue
			}
			told[other] = true
			item := &protocol.WorkspaceFullDocumentDiagnosticReport{URI: uriOf(other)}
			item.Kind, item.Items = "full", s.diagnostics(snapshot, path, list)
			if version, open := s.versionOf(other); open {
				item.Version = &version
			}
			report.Items = append(report.Items, item)
		}
	}
	return report, nil
}
