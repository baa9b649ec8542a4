package lsp

import (
	"context"

	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// WillRenameFiles answers with the edits of texts that name files which are about to be renamed.
func (s *rewriter) WillRenameFiles(ctx context.Context, params *protocol.RenameFilesParams) (*protocol.WorkspaceEdit,
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

// fileOperations are the files whose renaming the server wants to know of: all of them, since programs name files of
// any kind.
func fileOperations() object {
	return object{"willRename": object{"filters": []object{{"scheme": "file", "pattern": object{"glob": "**/*"}}}}}
}

// reporter answers clients that ask for findings.
type reporter struct {
	*settings
	documents *documents
	programs  func(folder string) []string // nil where nobody looks for those that are not open
}

// DiagnosticWorkspace answers with the findings of all programs with an open text, and of all other programs in the
// folders of the workspace.
func (s *reporter) DiagnosticWorkspace(ctx context.Context, _ *protocol.None) (
	*protocol.WorkspaceReport, error) {
	snapshot := moment(ctx)
	r := &workspaceReport{reporter: s, told: map[string]bool{}, items: []protocol.FileReport{}}
	for _, path := range snapshot.Paths() {
		if err := r.add(ctx, snapshot, path); err != nil {
			return nil, err
		}
	}
	for _, path := range s.closedPrograms() {
		if r.told[path] || snapshot.Text(path) != nil {
			continue
		}
		if err := r.add(ctx, snapshot.Apart(), path); err != nil {
			return nil, err
		}
	}
	return &protocol.WorkspaceReport{Items: r.items}, nil
}

// workspaceReport collects the findings of many programs, each file once.
type workspaceReport struct {
	*reporter
	told  map[string]bool
	items []protocol.FileReport
}

// add adds the findings of the program of a file. It returns the context's error.
func (r *workspaceReport) add(ctx context.Context, snapshot *editor.Snapshot, path string) error {
	found, err := editor.Diagnostics(ctx, snapshot, path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // of a project that cannot be read
	}
	for other, list := range found {
		if r.told[other] {
			continue
		}
		r.told[other] = true
		item := protocol.FileReport{URI: uriOf(other)}
		item.Kind, item.Items = "full", r.encoding().diagnostics(snapshot, path, list)
		if version, open := r.documents.versionOf(other); open {
			item.Version = &version
		}
		r.items = append(r.items, item)
	}
	return nil
}

// closedPrograms are the files of the programs in the folders of the workspace.
func (s *reporter) closedPrograms() []string {
	if s.programs == nil {
		return nil
	}
	var paths []string
	for _, folder := range s.workspace() {
		paths = append(paths, s.programs(folder)...)
	}
	return paths
}

// foldersOf are the folders that a client says it has open.
func foldersOf(params *protocol.InitializeParams) []string {
	var folders []string
	for _, f := range params.WorkspaceFolders {
		folders = append(folders, pathOf(f.URI))
	}
	// Clients that know no workspace folders send it.
	if root := params.RootURI; len(folders) == 0 && root != nil {
		folders = append(folders, pathOf(*root))
	}
	return folders
}
