package install

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

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Pack is a policy pack that an organization requires, with the place of its archive.
type Pack struct {
	Owner, Name, Version string
	Location             string // the URL of the archive; empty for a pack that must be installed
	Forbidden            string // the reason why downloads are forbidden, such as a flag; empty if they are allowed
	Client               *http.Client
	Pause                time.Duration     // as in Installation
	Tell                 func(text string) // receives a text about the download
	// Finish is called for an unpacked pack, to look at it and install its dependencies. It may change the pack; with
	// an error, nothing is installed.
	Finish func(dir string) error
}

// packFile marks a folder as a policy pack.
const packFile = "PulumiPolicy.yaml"

// largestPack limits the archive of a policy pack, in bytes.
const largestPack = 256 << 20

// packPart matches an allowed part of the path of an installed pack.
var packPart = regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,127}$`)

// Install returns the folder of a required pack below a home directory, the same as that of the Pulumi CLI. A missing
// pack is downloaded. The URL alone authorizes the download: no token is sent.
func (r Pack) Install(ctx context.Context, home string) (dir string, err error) {
	name := strings.ReplaceAll(r.Name, "/", "_")
	for _, part := range []string{r.Owner, name, r.Version} {
		if !packPart.MatchString(part) {
			return "", fmt.Errorf("%q is not a part of a name of a policy pack", part)
		}
	}
	folder := filepath.Join(home, "policies", r.Owner)
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
		return r.Finish(dir)
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
