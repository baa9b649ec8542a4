package plugin

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// RequiredPack is a policy pack that an organization requires, with the place of its archive.
type RequiredPack struct {
	Owner, Name, Version string
	Location             string // the URL of the archive; empty for a pack that must be installed
	Forbidden            string // the reason why downloads are forbidden, such as a flag; empty if they are allowed
	Client               *http.Client
	Pause                time.Duration     // as in Installation
	Tell                 func(text string) // receives a text about the download
	// Inspect is called for an unpacked pack, and returns the options of its language host. It may change the pack.
	Inspect func(dir string) (Script, error)
}

// Limits of a policy pack and of the installation of its dependencies.
const (
	largestPack  = 256 << 20 // bytes of the archive
	packPatience = 10 * time.Minute
)

// packPart matches an allowed part of the path of an installed pack.
var packPart = regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,127}$`)

// InstallPack returns the folder of a required pack, the same as that of the Pulumi CLI. A missing pack is downloaded,
// and the host of its language installs its dependencies. The URL alone authorizes the download: no token is sent.
func (h *Host) InstallPack(ctx context.Context, r RequiredPack) (dir string, err error) {
	name := strings.ReplaceAll(r.Name, "/", "_")
	for _, part := range []string{r.Owner, name, r.Version} {
		if !packPart.MatchString(part) {
			return "", fmt.Errorf("%q is not a part of a name of a policy pack", part)
		}
	}
	folder := filepath.Join(h.options.Home, "policies", r.Owner)
	label := "pulumi-analyzer-" + name + "-v" + r.Version
	dir = filepath.Join(folder, label)
	switch {
	case complete(dir):
		return dir, nil
	case r.Location == "":
		return "", errors.New("it is not installed, and the service has no archive of it")
	case r.Forbidden != "":
		return "", fmt.Errorf("it is not installed, and was not downloaded, because %s forbids that", r.Forbidden)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of policy packs: %w", err)
	}
	release, err := alone(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("wait for another installation: %w", err)
	}
	defer release()
	if complete(dir) { // installed by another process meanwhile
		return dir, nil
	}
	if r.Tell != nil {
		r.Tell(fmt.Sprintf("Downloading policy pack %s %s, which %s requires", r.Name, r.Version, r.Owner))
	}
	i := Installation{Name: r.Name, Version: r.Version, Client: r.Client, Pause: r.Pause, Largest: largestPack,
		address: r.Location, permits: packAddress}
	archive, err := i.download(ctx, folder, label)
	if err != nil {
		return "", err
	}
	defer func() { _ = osfile.Remove(archive) }()
	return dir, unpackInto(dir, func() error {
		if err := unpackPack(dir, archive); err != nil {
			return err
		}
		script, err := r.Inspect(dir)
		if err != nil {
			return err
		}
		return h.installDependencies(ctx, r.Name, dir, script)
	})
}

// packAddress returns an error for an address at which others could answer.
func packAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return errors.New("the URL is malformed")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return errors.New("policy packs are downloaded over https only")
}

// unpackPack fills a pack's folder from an archive of npm, whose folder `package` is the pack.
func unpackPack(dir, archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	err = eachMember(f, func(h *tar.Header, content io.Reader) error {
		inner, is := strings.CutPrefix(h.Name, "package/")
		if !is || inner == "" {
			return nil
		}
		h.Name = inner
		return takeMember(dir, h, content)
	})
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, packFile)); err != nil {
		return fmt.Errorf("the archive has no package/%s; nothing was installed", packFile)
	}
	return nil
}

// InstallDependencies lets the language host of a plugin in source form install its dependencies. It does nothing for
// other plugins.
func (h *Host) InstallDependencies(ctx context.Context, name, dir string) error {
	file := filepath.Join(dir, scriptFile)
	if _, err := os.Stat(file); err != nil || h.options.ReadScript == nil {
		return nil
	}
	script, err := h.options.ReadScript(file)
	if err != nil {
		return err
	}
	return h.installDependencies(ctx, name, dir, script)
}

// installDependencies lets the language host of a pack install its dependencies. A pack in YAML has none; a pack whose
// language has only an executable to run packs, and no host, is left as it is.
func (h *Host) installDependencies(ctx context.Context, name, dir string, script Script) error {
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
	ctx, cancel := context.WithTimeoutCause(ctx, packPatience, fmt.Errorf("it takes longer than %s", packPatience))
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
