package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"aead.dev/minisign"
	cyclone "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	modzip "golang.org/x/mod/zip"
)

const version = "0.0.0-test.1"

// wide builds every target instead of this machine's; it takes many times as long.
var wide = flag.Bool("wide", false, "build for every system")

// others lists targets that cannot run here; their archives are only opened.
var others = []string{"darwin/arm64/lean", "windows/amd64/lean"}

// releases holds two releases of one commit, built from clones in two folders into two folders.
type releases struct {
	source, first, second string
	public                minisign.PublicKey
}

var (
	once  sync.Once
	built releases
	fault error
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, dir := range []string{built.source, built.first, built.second} {
		if dir != "" {
			_ = os.RemoveAll(filepath.Dir(dir))
		}
	}
	os.Exit(code)
}

func release(t *testing.T) releases {
	t.Helper()
	once.Do(func() { built, fault = twice(context.WithoutCancel(t.Context())) })
	require.NoError(t, fault)
	return built
}

// twice builds both releases.
func twice(ctx context.Context) (r releases, err error) {
	public, secret, err := minisign.GenerateKey(nil)
	if err != nil {
		return r, err
	}
	r.public = public
	sealed, err := minisign.EncryptKey("open sesame", secret)
	if err != nil {
		return r, err
	}
	for i, out := range []*string{&r.first, &r.second} {
		dir, err := os.MkdirTemp("", strings.Repeat("release", i+1))
		if err != nil {
			return r, err
		}
		*out = filepath.Join(dir, "dist")
		source := filepath.Join(dir, "source")
		if i == 0 {
			r.source = source
		}
		if said, err := exec.Command("git", "clone", "-q", "--no-hardlinks", "../..", source).CombinedOutput(); err != nil {
			return r, errors.New(string(said))
		}
		key := filepath.Join(dir, "key")
		if err := os.WriteFile(key, sealed, 0o600); err != nil {
			return r, err
		}
		only := runtime.GOOS + "/" + runtime.GOARCH
		args := []string{"-version", version, "-source", source, "-out", *out, "-key", key, "-only", only + "/default," +
			only + "/lean," + strings.Join(others, ",")}
		if *wide {
			args = args[:len(args)-2]
		}
		os.Setenv("YAMLHOST_RELEASE_PASSWORD", "open sesame")
		if err := run(ctx, args); err != nil {
			return r, err
		}
	}
	return r, nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func TestTheSameCommitGivesTheSameBits(t *testing.T) {
	r := release(t)
	entries, err := os.ReadDir(r.first)
	require.NoError(t, err)
	again, err := os.ReadDir(r.second)
	require.NoError(t, err)
	require.Len(t, again, len(entries))
	for _, e := range entries {
		require.True(t, bytes.Equal(read(t, filepath.Join(r.first, e.Name())), read(t, filepath.Join(r.second, e.Name()))),
			e.Name())
	}
}

func TestChecksumsAreSigned(t *testing.T) {
	r := release(t)
	sums, signature := read(t, filepath.Join(r.first, sumsName)), read(t, filepath.Join(r.first, sumsName+".minisig"))
	require.True(t, minisign.Verify(r.public, sums, signature))
	require.False(t, minisign.Verify(r.public, append(sums, '\n'), signature))
	cmd := exec.Command("sha256sum", "-c", "--quiet", sumsName)
	cmd.Dir = r.first
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Run("by minisign's own program", func(t *testing.T) {
		if _, err := exec.LookPath("minisign"); err != nil {
			t.Skip("minisign is not installed")
		}
		out, err := exec.Command("minisign", "-Vm", filepath.Join(r.first, sumsName), "-P",
			r.public.String()).CombinedOutput()
		require.NoError(t, err, string(out))
	})
}

// unpack unpacks the archive of this machine's default edition, and returns its folder.
func unpack(t *testing.T, r releases) string {
	t.Helper()
	dir := t.TempDir()
	name := "yamlhost_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	out, err := exec.Command("tar", "-xzf", filepath.Join(r.first, name+".tar.gz"), "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, name)
}

func TestArchive(t *testing.T) {
	folder := unpack(t, release(t))
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "THIRD_PARTY_NOTICES.txt",
		"completions/_yamlhost", "man/yamlhost.1", "man/yamlhost-stack-init.1"} {
		require.NotEmpty(t, read(t, filepath.Join(folder, name)))
	}
	out, err := exec.Command(filepath.Join(folder, "yamlhost"), "version").CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "v"+version+" (default edition)\n", string(out))
}

// TestSizes: the programs of both editions are no larger than docs/design/size.md states, and nothing in them finds
// methods by name, which would make the linker keep all of them.
func TestSizes(t *testing.T) {
	r := release(t)
	const mebibyte = 1 << 20
	for edition, most := range map[string]int{"yamlhost": 48 * mebibyte, "yamlhost-lean": 32 * mebibyte} {
		name := edition + "_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
		program := content(t, filepath.Join(r.first, name+".tar.gz"))[name+"/yamlhost"]
		require.NotEmpty(t, program)
		require.LessOrEqual(t, len(program), most, "%s has %d bytes", edition, len(program))
		require.False(t, bytes.Contains(program, []byte("text/template.(*state).evalField")),
			"%s links text/template's evaluation; see docs/design/size.md", edition)
	}
}

// TestLifeWithNothingElse runs the whole life of a stack in a root folder with only the program: no shell, no
// libraries, no network, no devices.
func TestLifeWithNothingElse(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root may change the root folder")
	}
	folder := unpack(t, release(t))
	life(t, filepath.Join(folder, "man"), inRoot(t, folder, "/yamlhost"))
}

// inRoot runs programs in a root folder, as a user without rights.
func inRoot(t *testing.T, root, program string) func(args ...string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "work"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "tmp"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(root, "tmp"), 0o777))
	require.NoError(t, os.Chown(filepath.Join(root, "work"), user, user))
	for dir := root; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	return func(args ...string) string {
		cmd := &exec.Cmd{Path: program, Args: append([]string{program}, args...), Dir: "/work",
			Env: []string{"HOME=/work", "PATH=/usr/bin:/"},
			SysProcAttr: &syscall.SysProcAttr{Chroot: root, Cloneflags: syscall.CLONE_NEWNET, // without a network
				Credential: &syscall.Credential{Uid: user, Gid: user}}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
}

// life runs the whole life of a stack; exe runs the program in /work. manual is the folder of the man pages.
func life(t *testing.T, manual string, exe func(args ...string) string) {
	t.Helper()
	require.Contains(t, exe("version"), version)
	exe("new", "hello", "--yes", "--dir", "/work/first")
	require.Contains(t, exe("-C", "/work/first", "run"), "created")
	require.Contains(t, exe("-C", "/work/first", "run"), "unchanged")
	exe("-C", "/work/first", "config", "set", "words", "3")
	require.Contains(t, exe("-C", "/work/first", "run"), "replaced")
	require.Regexp(t, `^\w+-\w+-\w+\n$`, exe("-C", "/work/first", "stack", "output", "name"))
	require.Contains(t, exe("-C", "/work/first", "destroy", "--yes"), "deleted")
	require.Contains(t, exe("completion", "bash"), "yamlhost")
	require.Contains(t, string(read(t, filepath.Join(manual, "yamlhost.1"))), version)
	require.NotEmpty(t, read(t, filepath.Join(manual, "yamlhost-stack-init.1")))
}

func TestInstaller(t *testing.T) {
	r := release(t)
	dist := t.TempDir()
	require.NoError(t, os.CopyFS(dist, os.DirFS(r.first)))
	mux := http.NewServeMux()
	mux.Handle("/download/v"+version+"/", http.StripPrefix("/download/v"+version+"/", http.FileServer(http.Dir(dist))))
	mux.HandleFunc("/latest", func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, "/tag/v"+version,
			http.StatusFound)
	})
	mux.HandleFunc("/tag/", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	install := func(t *testing.T, dir string, args ...string) (string, error) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{filepath.Join(r.first, "install.sh")}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "YAMLHOST_RELEASES=" + server.URL,
			"YAMLHOST_INSTALL_DIR=" + dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("neither curl nor wget is installed")
		}
	}
	dir := filepath.Join(t.TempDir(), "bin")
	for _, args := range [][]string{{version}, {"v" + version}, {}} {
		out, err := install(t, dir, args...)
		require.NoError(t, err, out)
		said, err := exec.Command(filepath.Join(dir, "yamlhost"), "version").Output()
		require.NoError(t, err)
		require.Equal(t, "v"+version+" (default edition)\n", string(said))
	}
	out, err := install(t, dir, "9.9.9")
	require.Error(t, err)
	require.Contains(t, out, "is 9.9.9 a release?")

	archive := filepath.Join(dist, "yamlhost_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	data := read(t, archive)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(archive, data, 0o644))
	nowhere := filepath.Join(t.TempDir(), "bin")
	out, err = install(t, nowhere, version)
	require.Error(t, err)
	require.Contains(t, out, "nothing was installed")
	require.NoDirExists(t, nowhere)
}

func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	r := release(t)
	found, err := filepath.Glob(filepath.Join(r.first, "yamlhost_*_"+runtime.GOARCH+".deb"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	root := t.TempDir()
	if os.Getuid() != 0 {
		out, err := exec.Command("dpkg-deb", "-x", found[0], root).CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg/updates"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644))
	cmd := exec.Command("dpkg", "--root="+root, "--force-script-chrootless", "-i", found[0])
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	life(t, filepath.Join(root, "usr/share/man/man1"), inRoot(t, root, "/usr/bin/yamlhost"))
}

// TestContents: both lists name every module that is linked into the programs, and the statement names every file.
func TestContents(t *testing.T) {
	r := release(t)
	name := filepath.Join(r.first, "yamlhost_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH)
	modules, err := linked(build{binaries: []file{{filepath.Join(unpack(t, r), "yamlhost"), "yamlhost", 0o755}}})
	require.NoError(t, err)
	require.Greater(t, len(modules), 50)
	var bom cyclone.BOM
	require.NoError(t, cyclone.NewBOMDecoder(bytes.NewReader(read(t, name+".cdx.json")), cyclone.BOMFileFormatJSON).Decode(
		&bom))
	var spdx spdxDocument
	require.NoError(t, json.Unmarshal(read(t, name+".spdx.json"), &spdx))
	named := map[string]int{}
	for _, c := range *bom.Components {
		named[c.PackageURL]++
	}
	for _, p := range spdx.Packages {
		named[p.External[0].Locator]++
	}
	for _, m := range modules {
		require.Equal(t, 2, named[purl(m.Path, m.Version)], m.Path)
	}
	require.Len(t, spdx.Relationships, len(spdx.Packages))

	var statement struct{ Subject []struct{ Name string } }
	require.NoError(t, json.Unmarshal(read(t, filepath.Join(r.first, "yamlhost_"+version+".intoto.json")), &statement))
	entries, err := os.ReadDir(r.first)
	require.NoError(t, err)
	require.Len(t, statement.Subject, len(entries)-3, "all but the statement, the checksums and their signature")
}

// TestGoInstall installs the program by version from a module proxy in a folder. All other modules come from the module
// cache.
func TestGoInstall(t *testing.T) {
	r := release(t)
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	const path, tag = "github.com/yamlhost/yamlhost", "v1.2.3"
	require.True(t, semver.IsValid(tag))
	proxy := t.TempDir()
	versions := filepath.Join(proxy, path, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	out, err := os.Create(filepath.Join(versions, tag+".zip"))
	require.NoError(t, err)
	require.NoError(t, modzip.CreateFromDir(out, module.Version{Path: path, Version: tag}, r.source))
	require.NoError(t, out.Close())
	for name, data := range map[string][]byte{"list": []byte(tag + "\n"), tag +
		".info": []byte(`{"Version":"` + tag + `"}`),
		tag + ".mod": read(t, filepath.Join(r.source, "go.mod"))} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), data, 0o644))
	}
	dir := t.TempDir()
	for _, query := range []string{tag, "latest"} {
		cmd := exec.Command("go", "install", path+"/cmd/yamlhost@"+query)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-trimpath -modcacherw", "GONOSUMDB=*", "GONOSUMCHECK=1",
			"GOMODCACHE="+t.TempDir(),
			"GOPROXY=file://"+proxy+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache/download"),
			"CGO_ENABLED=0", "GOSUMDB=off")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		printed, err := exec.Command(filepath.Join(dir, "yamlhost"), "version").Output()
		require.NoError(t, err)
		require.Equal(t, tag+" (default edition)\n", string(printed))
		require.NoError(t, os.Remove(filepath.Join(dir, "yamlhost")))
	}
}

// TestTarIsPlain: the files in an archive have no owner, and the time of the commit.
func TestTarIsPlain(t *testing.T) {
	r := release(t)
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join(r.first, "yamlhost_"+version+"_"+runtime.GOOS+"_"+
		runtime.GOARCH+".tar.gz"))))
	require.NoError(t, err)
	_, date, err := commit(t.Context(), r.source)
	require.NoError(t, err)
	for files := tar.NewReader(zipped); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.True(t, head.ModTime.Equal(date), head.Name)
		require.Zero(t, head.Uid)
		require.Contains(t, []fs.FileMode{0o644, 0o755}, fs.FileMode(head.Mode), head.Name)
	}
}
