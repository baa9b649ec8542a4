package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// dependencyPatience is the longest time in which the dependencies of a plugin are installed.
const dependencyPatience = 10 * time.Minute

// InstallDependencies lets the language host of a plugin in source form install its dependencies. It does nothing for
// other plugins.
func (h *Host) InstallDependencies(ctx context.Context, name, dir string) error {
	file := filepath.Join(dir, install.ScriptFile)
	if _, err := os.Stat(file); err != nil || h.options.ReadScript == nil {
		return nil
	}
	script, err := h.options.ReadScript(file)
	if err != nil {
		return err
	}
	return h.InstallScriptDependencies(ctx, name, dir, script)
}

// InstallScriptDependencies lets the host of a script's language install its dependencies into its folder. A script in
// YAML has none; one whose language has only an executable to run packs, and no host, is left as it is.
func (h *Host) InstallScriptDependencies(ctx context.Context, name, dir string, script Script) error {
	o := &h.options
	command, ok := o.languageHost(script.Language)
	if script.Language == "yaml" || script.Language == "" || !ok {
		return nil
	}
	options, err := structpb.NewStruct(script.Options)
	if err != nil {
		return fmt.Errorf("the options of its runtime: %w", err)
	}
	engine, err := h.EngineAddress()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dependencyPatience, fmt.Errorf("it takes longer than %s", dependencyPatience))
	defer cancel()
	c := &client{host: h, name: name}
	defer c.abandon()
	if c.process, c.conn, err = o.startHost(ctx, name, command, engine, o.inherited(), dir); err != nil {
		return err
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	stream, err := pulumirpc.NewLanguageRuntimeClient(c.conn).InstallDependencies(ctx,
		&pulumirpc.InstallDependenciesRequest{IsPlugin: true,
			Info: &pulumirpc.ProgramInfo{RootDirectory: dir, ProgramDirectory: dir, EntryPoint: ".", Options: options}})
	output := &tail{limit: outputLimit}
	for err == nil {
		var r *pulumirpc.InstallDependenciesResponse
		if r, err = stream.Recv(); err == nil {
			_, _ = output.Write(append(r.GetStdout(), r.GetStderr()...))
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("install what it depends on: %w\n%s", err, output)
}
