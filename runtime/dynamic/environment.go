package dynamic

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/environ"
)

// needed are the variables that every process gets. An interpreter needs them to run, to find its certificates and to
// use a proxy.
var needed = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
	"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "VIRTUAL_ENV", "PYTHONPATH"}

// environment returns the part of our environment that a process gets: the needed variables and the listed ones.
func environment(ours, listed []string) []string {
	all := slices.Contains(listed, "all")
	withheld := append(environ.Withheld(), "PULUMI_BACKEND_URL") // not covered by "all"
	var env []string
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		same := func(other string) bool { return environ.Same(name, other) }
		if slices.ContainsFunc(needed, same) || slices.ContainsFunc(listed, same) ||
			all && !slices.ContainsFunc(withheld, same) {
			env = append(env, entry)
		}
	}
	return env
}

// findProgram returns the path of an executable in a list of folders; "" if no folder has it. On Windows, Python's has
// no number in its name unless it comes from the store.
func findProgram(name string, path []string) string {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe"}
		if name == "python3" {
			names = append(names, "python.exe")
		}
	}
	for _, dir := range path {
		for _, name := range names {
			full := filepath.Join(dir, name)
			// What opens the store instead of the program is no regular file.
			info, err := os.Stat(full)
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) {
				return full
			}
		}
	}
	return ""
}
