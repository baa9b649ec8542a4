package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/macho"
	"debug/pe"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// content returns the files of an archive by name.
func content(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	data, files := read(t, archive), map[string][]byte{}
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range z.File {
			in, err := f.Open()
			require.NoError(t, err)
			files[f.Name], err = io.ReadAll(in)
			require.NoError(t, err)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data)) // gzip joins the parts of an apk
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		if head.Typeflag == tar.TypeReg {
			files[head.Name], err = io.ReadAll(r)
			require.NoError(t, err)
		}
	}
}

// TestOtherSystems opens the archives whose programs cannot run here. They have the same files as this machine's
// archive, and the programs are built for their system, architecture and edition.
func TestOtherSystems(t *testing.T) {
	r := release(t)
	names := func(archive string) (list []string) {
		for name := range content(t, archive) {
			_, name, _ = strings.Cut(name, "/")
			list = append(list, strings.TrimSuffix(name, ".exe"))
		}
		slices.Sort(list)
		return list
	}
	own := names(filepath.Join(r.first, "yamlhost_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	machines := map[string]any{"darwin/amd64": macho.CpuAmd64, "darwin/arm64": macho.CpuArm64,
		"windows/amd64": uint16(pe.IMAGE_FILE_MACHINE_AMD64), "windows/arm64": uint16(pe.IMAGE_FILE_MACHINE_ARM64)}
	opened := 0
	for _, pattern := range []string{"*_darwin_*.tar.gz", "*_windows_*.zip"} {
		archives, err := filepath.Glob(filepath.Join(r.first, pattern))
		require.NoError(t, err)
		for _, archive := range archives {
			opened++
			require.Equal(t, own, names(archive), archive)
			parts := regexp.MustCompile(`^(yamlhost(?:-lean)?)_.*_(darwin|windows)_(amd64|arm64)\.`).FindStringSubmatch(
				filepath.Base(archive))
			require.NotNil(t, parts, archive)
			for name, data := range content(t, archive) {
				if !slices.Contains(programs, strings.TrimSuffix(path.Base(name), ".exe")) {
					continue
				}
				var machine any
				if parts[2] == "darwin" {
					f, err := macho.NewFile(bytes.NewReader(data))
					require.NoError(t, err, name)
					machine = f.Cpu
				} else {
					require.True(t, strings.HasSuffix(name, ".exe"), name)
					f, err := pe.NewFile(bytes.NewReader(data))
					require.NoError(t, err, name)
					machine = f.Machine
				}
				require.Equal(t, machines[parts[2]+"/"+parts[3]], machine, name)
				info, err := buildinfo.Read(bytes.NewReader(data))
				require.NoError(t, err, name)
				settings := map[string]string{}
				for _, s := range info.Settings {
					settings[s.Key] = s.Value
				}
				require.Equal(t, parts[2], settings["GOOS"], name)
				require.Equal(t, parts[3], settings["GOARCH"], name)
				require.Equal(t, parts[1] == "yamlhost-lean", strings.Contains(settings["-tags"], "lean"), name)
			}
		}
	}
	require.GreaterOrEqual(t, opened, len(others))
}

// TestAPK opens the packages for Alpine: they contain their metadata, the programs and the manual.
func TestAPK(t *testing.T) {
	r := release(t)
	found, err := filepath.Glob(filepath.Join(r.first, "yamlhost_*.apk"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, apk := range found {
		files := content(t, apk)
		require.Contains(t, string(files[".PKGINFO"]), "pkgname = yamlhost\n")
		require.True(t, bytes.HasPrefix(files["usr/bin/yamlhost"], []byte("\x7fELF")))
		require.Contains(t, string(files["usr/share/man/man1/yamlhost.1"]), version)
	}
}

// TestRPM installs the RPM package into an empty folder and runs the life of a stack there.
func TestRPM(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil || os.Getuid() != 0 {
		t.Skip("rpm is not installed, or this is not root")
	}
	r := release(t)
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	found, err := filepath.Glob(filepath.Join(r.first, "yamlhost-[0-9]*."+machine+".rpm"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	root := t.TempDir()
	out, err := exec.Command("rpm", "--root", root, "--install", found[0]).CombinedOutput()
	require.NoError(t, err, string(out))
	said, err := exec.Command("rpm", "--root", root, "--query", "yamlhost").CombinedOutput()
	require.NoError(t, err, string(said))
	life(t, filepath.Join(root, "usr/share/man/man1"), inRoot(t, root, "/usr/bin/yamlhost"))
}

// TestManifests: the manifests of package managers are valid and have the checksum of each archive beside its address.
// The archives are made up, because their content does not matter.
func TestManifests(t *testing.T) {
	p := Plan{Version: "1.2.3", Out: t.TempDir()}
	require.NoError(t, p.manifests())
	require.NoFileExists(t, filepath.Join(p.Out, "yamlhost.rb"), "there are no archives")
	digests := map[string]string{}
	for _, target := range every() {
		name := p.named(target) + map[bool]string{true: ".zip", false: ".tar.gz"}[target.OS == "windows"]
		require.NoError(t, os.WriteFile(filepath.Join(p.Out, name), []byte(name), 0o644))
		sum := sha256.Sum256([]byte(name))
		digests[name] = hex.EncodeToString(sum[:])
	}
	require.NoError(t, p.manifests())
	agree := func(url, sum string) {
		require.Contains(t, url, "/v1.2.3/")
		require.Equal(t, digests[path.Base(url)], strings.ToLower(sum), url)
	}

	var scoop struct {
		Version      string
		Architecture map[string]struct {
			URL, Hash string
			Folder    string `json:"extract_dir"`
		}
		Bin []string
	}
	require.NoError(t, json.Unmarshal(read(t, filepath.Join(p.Out, "yamlhost.json")), &scoop))
	require.Equal(t, "1.2.3", scoop.Version)
	require.Len(t, scoop.Architecture, 2)
	for _, a := range scoop.Architecture {
		agree(a.URL, a.Hash)
		require.Equal(t, a.Folder+".zip", path.Base(a.URL))
	}

	var winget struct {
		PackageVersion, ManifestType string
		Installers                   []struct {
			InstallerURL    string `yaml:"InstallerUrl"`
			InstallerSha256 string `yaml:"InstallerSha256"`
		} `yaml:"Installers"`
	}
	for _, name := range []string{"yamlhost.yamlhost.yaml", "yamlhost.yamlhost.locale.en-US.yaml",
		"yamlhost.yamlhost.installer.yaml"} { // the last one has the installers
		require.NoError(t, yaml.Unmarshal(read(t, filepath.Join(p.Out, name)), &winget), name)
	}
	require.Len(t, winget.Installers, 2)
	for _, i := range winget.Installers {
		agree(i.InstallerURL, i.InstallerSha256)
	}

	formula := filepath.Join(p.Out, "yamlhost.rb")
	pairs := regexp.MustCompile(`url "([^"]+)"\s+sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(string(read(t, formula)),
		-1)
	require.Len(t, pairs, 4)
	for _, pair := range pairs {
		agree(pair[1], pair[2])
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		out, err := exec.Command("ruby", "-c", formula).CombinedOutput()
		require.NoError(t, err, string(out))
	}

	require.NoError(t, os.Remove(filepath.Join(p.Out, p.named(Target{"windows", "arm64", "default"})+".zip")))
	require.NoError(t, os.Remove(filepath.Join(p.Out, "yamlhost.json")))
	require.NoError(t, p.manifests())
	require.NoFileExists(t, filepath.Join(p.Out, "yamlhost.json"), "an archive that it names is missing")
}
