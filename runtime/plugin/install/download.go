package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/httpget"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Default limits of a download's time and size.
const (
	mostSilence     = 30 * time.Second
	mostPatience    = 30 * time.Minute
	largestArchive  = 2 << 30 // bytes
	largestChecksum = 1 << 20 // bytes of a list of checksums
)

// download makes up to five attempts (F2.33). Each continues where the last one ended.
func (i *Installation) download(ctx context.Context, folder, label string) (string, error) {
	f, err := os.CreateTemp(folder, label+".tmp*") // not a folder name of any plugin (F2.27)
	if err != nil {
		return "", fmt.Errorf("make a file for the download: %w", err)
	}
	patience := cmp.Or(i.Patience, mostPatience)
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it takes longer than %s", patience))
	defer cancel()
	var tag string // of the content of f
	err = httpget.Repeat(limited, i.Pause, func() error { return i.attempt(limited, f, &tag) })
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = context.Cause(limited)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = osfile.Remove(f.Name())
		from, _, _ := strings.Cut(i.url(), "?") // a query may have a password
		what := "plugin"
		if i.address != "" {
			what = "policy pack"
		}
		return "", fmt.Errorf("download %s %s %s from %s: %w", what, i.Name, i.Version, from, err)
	}
	return f.Name(), nil
}

// attempt downloads the rest of the archive into f. tag is the server's ETag of the content of f.
func (i *Installation) attempt(ctx context.Context, f *os.File, tag *string) error {
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	header := http.Header{}
	if have > 0 && *tag != "" {
		header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
		header.Set("If-Range", *tag)
	}
	response, err := i.get(ctx, i.url(), header)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
		if start, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Content-Range"), "bytes "),
			"-"); start != strconv.FormatInt(have, 10) || have == 0 {
			*tag = "" // the next attempt starts from the beginning
			return fmt.Errorf("the server sent bytes from %q on instead of those from %d on", start, have)
		}
	case http.StatusOK: // all of it, from its beginning
		if err := f.Truncate(0); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		have = 0
	default:
		return httpget.StatusError(response)
	}
	*tag = cmp.Or(response.Header.Get("ETag"), response.Header.Get("Last-Modified"))
	largest := cmp.Or(i.Largest, largestArchive)
	tooLarge := &httpget.FinalError{Problem: fmt.Sprintf("the archive has more than %d bytes, too many for a plugin",
		largest)}
	if have+response.ContentLength > largest {
		return tooLarge
	}
	got, err := io.Copy(f, io.LimitReader(response.Body, largest-have+1))
	switch {
	case have+got > largest:
		return tooLarge
	case err == nil && response.ContentLength >= 0 && got != response.ContentLength:
		return fmt.Errorf("the size of the archive in bytes is %d instead of %d", got, response.ContentLength)
	case err == nil:
		return i.isArchive(f, response)
	}
	return err
}

// isArchive returns an error if the answer is not an archive, for instance the login page of a portal.
func (i *Installation) isArchive(f *os.File, response *http.Response) error {
	head := make([]byte, 2)
	if n, _ := f.ReadAt(head, 0); n == 2 && head[0] == 0x1f && head[1] == 0x8b {
		return nil
	}
	kind := cmp.Or(response.Header.Get("Content-Type"), "something else")
	return &httpget.FinalError{Problem: fmt.Sprintf(
		"the download is not an archive but %q; does a proxy or a login page answer instead of the server?", kind)}
}

// get sends a request. It gives up if the server is silent for too long, also during its answer.
func (i *Installation) get(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	permits := i.permits
	if permits == nil {
		permits = func(dst string) error { return secure(dst, i.AllowHTTP) }
	}
	if err := permits(address); err != nil {
		return nil, &httpget.FinalError{Problem: err.Error()}
	}
	return httpget.Get(ctx, i.Client, address, httpget.Options{Header: header,
		Silence: cmp.Or(i.Silence, mostSilence), Redirect: permits})
}

// secure returns an error for an address without an encrypted connection.
func secure(address string, allowHTTP bool) error {
	if allowHTTP || !strings.HasPrefix(strings.ToLower(address), "http://") {
		return nil
	}
	return errors.New(
		"plugins are downloaded over https only; --allow-http-plugins allows http, where others can change them on the way")
}

// list is a file with checksums that a publisher may give beside the archive.
type list struct {
	name  string
	alone bool // of the archive alone, so that its name may be missing
}

// lists returns the usual names of lists of checksums: the archive's with .sha256, that of Pulumi's releases, and
// others.
func (i *Installation) lists() []list {
	return []list{{i.asset() + ".sha256", true}, {"pulumi-" + i.Name + "_" + i.Version + "_checksums.txt", false},
		{"SHA256SUMS", false}, {"checksums.txt", false}}
}

// published compares the checksum of the download with those that its publisher lists beside it, if there are
// any.
func (i *Installation) published(ctx context.Context, sum string) error {
	base := strings.TrimSuffix(i.url(), i.asset())
	for _, list := range i.lists() {
		text, err := i.small(ctx, base+list.name)
		if err != nil {
			return fmt.Errorf("read the publisher's checksums at %s: %w", base+list.name, err)
		}
		if want := i.checksumIn(text, list.alone); want != "" && !strings.EqualFold(want, sum) {
			return &ChecksumError{Want: strings.ToLower(want), Got: sum, From: i.url()}
		}
	}
	return nil
}

// small reads a small file of the server; it returns nil if there is none.
func (i *Installation) small(ctx context.Context, address string) (text []byte, err error) {
	err = httpget.Repeat(ctx, i.Pause, func() error {
		response, err := i.get(ctx, address, nil)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		switch {
		case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusForbidden,
			response.StatusCode == http.StatusGone:
			return nil // buckets answer "forbidden" for missing files
		case response.StatusCode != http.StatusOK:
			return httpget.StatusError(response)
		}
		text, err = io.ReadAll(io.LimitReader(response.Body, largestChecksum+1))
		if err == nil && len(text) > largestChecksum {
			return &httpget.FinalError{Problem: "it is too large"}
		}
		return err
	})
	return text, err
}

// checksumIn returns the checksum of the archive in a list; empty if the list does not have it.
func (i *Installation) checksumIn(text []byte, alone bool) string {
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields[0]) != 64 || strings.Trim(strings.ToLower(fields[0]), "0123456789abcdef") != "" {
			continue
		}
		if len(fields) == 1 && alone || len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == i.asset() {
			return fields[0]
		}
	}
	return ""
}
