package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/Masterminds/semver/v3"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// scriptPatience multiplies the time limit for plugins in source form to print their port.
const scriptPatience = 6

// Script is the description of a plugin in source form.
type Script struct {
	Language string         // that it is written in, such as nodejs
	Options  map[string]any // for the language host, as JSON values
	Requires string         // the versions of Pulumi that it runs under, as a range; empty for all
}

// languageHost returns the command that starts the host of a language: that of Options, an executable on the path, or
// an installed plugin, in this order (F2.25, F2.30).
func (o *Options) languageHost(language string) (command []string, ok bool) {
	if command := o.Languages[language]; len(command) > 0 {
		return command, true
	}
	executable := "pulumi-language-" + language
	if path, found := o.onPath(executable); found {
		return []string{path}, true
	}
	var best *semver.Version
	for p, have := range install.All(o.Home, "language", language) {
		if path, found := install.Executable(p.Path, executable); found && (best == nil || install.Better(have, best)) {
			best, command = have, []string{path}
		}
	}
	return command, best != nil
}

// startHost starts the host of a language and connects to it. The caller stops the process and closes the connection;
// there is none if the error is not nil.
func (o *Options) startHost(ctx context.Context, name string, command []string, engine string, env []string,
	dir string) (*process, *grpc.ClientConn, error) {
	args := append(slices.Clone(command[1:]), engine)
	p, port, err := o.launch(ctx, program{name, command[0], args, env, dir}, scriptPatience*o.StartLimit)
	if err != nil {
		return nil, nil, err
	}
	conn, err := dial("127.0.0.1:"+strconv.Itoa(port), nil)
	if err != nil {
		p.kill()
		return nil, nil, fmt.Errorf("start plugin %s: connect to the host of its language: %w", name, err)
	}
	return p, conn, nil
}

// source is a plugin in source form.
type source struct {
	name, dir string
	file      string // the file that describes it, in dir
	kind      string // resource or analyzer
}

// startSource runs a plugin in source form through the host of its language (F2.30, F9.10). It returns the process of
// the language host, which ends when the plugin does; ending it ends the plugin.
func (o *Options) startSource(ctx context.Context, src source, engine string, env []string,
	programDir string) (_ *process, port int, err error) {
	name, dir := src.name, src.dir
	if o.ReadScript == nil {
		return nil, 0, fmt.Errorf("plugin %s is a program in source form (%s), which cannot be run here", name,
			filepath.Join(dir, src.file))
	}
	script, err := o.ReadScript(filepath.Join(dir, src.file))
	if err != nil {
		return nil, 0, fmt.Errorf("start plugin %s: %w", name, err)
	}
	if script.Language == "" {
		return nil, 0, fmt.Errorf("start plugin %s: %s does not say which language it is written in; it needs `runtime: …`",
			name, filepath.Join(dir, src.file))
	}
	if err := o.admits(name, script.Requires); err != nil {
		return nil, 0, err
	}
	options, err := structpb.NewStruct(script.Options)
	if err != nil {
		return nil, 0, fmt.Errorf("start plugin %s: the options of its runtime: %w", name, err)
	}
	command, ok := o.languageHost(script.Language)
	if !ok {
		return nil, 0, fmt.Errorf(
			"plugin %s is written in %s, and no pulumi-language-%s that could run it is on $PATH; it comes with the Pulumi CLI. "+
				"Or install a compiled version of the plugin, or start it yourself and set PULUMI_DEBUG_PROVIDERS", name,
			script.Language, script.Language)
	}
	// Two processes have to start, and the second may be compiled first.
	ctx, cancel := context.WithTimeout(ctx, scriptPatience*o.StartLimit)
	defer cancel()
	p, conn, err := o.startHost(ctx, name, command, engine, env, programDir)
	if err != nil {
		return nil, 0, err
	}
	running, stop := context.WithCancel(context.Background())
	lines := make(chan firstLine, 1)
	p.script = &scriptRun{stop: stop, conn: conn}
	p.first = lines
	request := &pulumirpc.RunPluginRequest{
		Pwd: programDir, Args: []string{engine}, Env: env, Kind: src.kind, Name: name,
		Info: &pulumirpc.ProgramInfo{RootDirectory: dir, ProgramDirectory: dir, EntryPoint: ".", Options: options},
	}
	p.script.reading.Go(func() { p.follow(running, pulumirpc.NewLanguageRuntimeClient(conn), request, lines) })
	if port, err = p.port(ctx); err != nil {
		p.kill()
	}
	return p, port, err
}

// admits returns an error if a plugin does not run under Options.PulumiVersion (F2.30).
func (o *Options) admits(name, wanted string) error {
	if wanted == "" || o.PulumiVersion == "" {
		return nil
	}
	admitted, err := semver.NewConstraint(wanted)
	if err != nil {
		return fmt.Errorf("plugin %s requires the version %q of Pulumi, which is not a range of versions", name, wanted)
	}
	if have, err := semver.NewVersion(o.PulumiVersion); err == nil && !admitted.Check(have) {
		return fmt.Errorf("plugin %s requires the version %s of Pulumi, and this program is compatible with %s", name, wanted,
			o.PulumiVersion)
	}
	return nil
}

// scriptRun is a plugin that runs inside of, or under, the host of its language.
type scriptRun struct {
	stop    context.CancelFunc // ends the plugin
	conn    *grpc.ClientConn
	reading sync.WaitGroup // follow

	mu   sync.Mutex
	exit string // the end of the plugin as reported by its host; empty until then
}

// close ends the plugin and waits for the goroutines of follow.
func (r *scriptRun) close() {
	r.stop()
	r.reading.Wait()
	_ = r.conn.Close()
}

// ended returns how the plugin ended; empty if its host has not reported it.
func (r *scriptRun) ended() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exit
}

// follow starts a plugin through its language host and reads its output: the first line for the port, the rest for
// errors. When the plugin has ended, its host is ended too.
func (p *process) follow(ctx context.Context, host pulumirpc.LanguageRuntimeClient, request *pulumirpc.RunPluginRequest,
	first chan<- firstLine) {
	var head []byte
	told := false
	tell := func(line firstLine) {
		if !told {
			told = true
			first <- line
		}
	}
	exit := "its language host lost it"
	stream, err := host.RunPlugin(ctx, request, grpc.WaitForReady(true))
	for err == nil {
		var r *pulumirpc.RunPluginResponse
		if r, err = stream.Recv(); err != nil {
			break
		}
		switch out := r.GetOutput().(type) {
		case *pulumirpc.RunPluginResponse_Stdout:
			if told {
				_, _ = p.output.Write(out.Stdout)
				break
			}
			head = append(head, out.Stdout...)
			if line, rest, found := bytes.Cut(head, []byte("\n")); found || len(head) > lineLimit {
				tell(firstLine{text: string(line)})
				_, _ = p.output.Write(rest)
			}
		case *pulumirpc.RunPluginResponse_Stderr:
			_, _ = p.output.Write(out.Stderr)
		case *pulumirpc.RunPluginResponse_Exitcode:
			exit = "exit status " + strconv.Itoa(int(out.Exitcode))
		}
	}
	if err != io.EOF && ctx.Err() == nil {
		_, _ = fmt.Fprintln(p.output, status.Convert(err).Message())
	}
	p.script.mu.Lock()
	p.script.exit = exit
	p.script.mu.Unlock()
	if ctx.Err() == nil && !p.gone() {
		_ = p.command.Process.Kill()
		<-p.ended
	}
	if !told {
		_, _ = p.output.Write(head)
	}
	tell(firstLine{text: string(head), err: io.ErrUnexpectedEOF})
}
