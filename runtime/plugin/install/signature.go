package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aead.dev/minisign"

	"github.com/yamlhost/yamlhost/internal/httpget"
)

// signatureSuffix ends the name of the file with the signature of another one.
const signatureSuffix = ".minisig"

// largestInMemory bounds an archive whose signature covers the whole file and not a digest.
const largestInMemory = 256 << 20

// Key is a publisher's public key of minisign.
type Key struct{ public minisign.PublicKey }

// ParseKey reads a public key: the one line that minisign prints, or the text of a file with it.
func ParseKey(text string) (*Key, error) {
	var k Key
	if err := k.public.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return nil, errors.New("it is not a public key of minisign, which is one line that begins with RW")
	}
	return &k, nil
}

// String returns the key as lock files keep it.
func (k *Key) String() string { return k.public.String() }

// SignatureError is returned when an archive has no signature by a trusted key.
type SignatureError struct{ From, Problem string }

// Error names the source of the archive, and the problem.
func (e *SignatureError) Error() string {
	return fmt.Sprintf("the archive from %s is not accepted: %s; nothing was installed", e.From, e.Problem)
}

// signed returns a *SignatureError unless the trusted key has signed an archive with the SHA-256 sum: the archive
// itself, or a list of checksums that has it. Without a trusted key it returns nil.
func (i *Installation) signed(ctx context.Context, archive, sum string) error {
	if i.Key == nil {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return &SignatureError{From: i.from(), Problem: fmt.Sprintf(format, args...)}
	}
	name := i.asset() + signatureSuffix
	signature, err := i.beside(ctx, name)
	if err != nil {
		return refuse("its signature cannot be read: %s", err)
	}
	if signature != nil {
		about := i.asset()
		if i.File != "" { // a local file may have any name
			name, about = i.File+signatureSuffix, ""
		}
		if problem := i.Key.vouches(archive, signature, about); problem != "" {
			return refuse("%s %s", name, problem)
		}
		return nil
	}
	if i.File != "" {
		return refuse("a key is trusted for the plugin, and there is no %s", i.File+signatureSuffix)
	}
	for _, list := range i.lists() {
		text, err := i.beside(ctx, list.name)
		if err != nil {
			return refuse("%s cannot be read: %s", list.name, err)
		}
		want := i.checksumIn(text, list.alone)
		if want == "" {
			continue
		}
		if signature, err = i.beside(ctx, list.name+signatureSuffix); err != nil {
			return refuse("%s cannot be read: %s", list.name+signatureSuffix, err)
		}
		if signature == nil {
			continue
		}
		if !minisign.Verify(i.Key.public, text, signature) {
			return refuse("%s is not the trusted key's signature of %s", list.name+signatureSuffix, list.name)
		}
		if list.alone { // such a list names no version
			if problem := speaksOf(signature, list.name); problem != "" {
				return refuse("%s %s", list.name+signatureSuffix, problem)
			}
		}
		if !strings.EqualFold(want, sum) {
			return &ChecksumError{Want: strings.ToLower(want), Got: sum, From: i.url()}
		}
		return nil
	}
	return refuse("a key is trusted for the plugin, and its publisher has no signature beside the archive: neither %s, "+
		"nor a signed list of checksums", name)
}

// vouches verifies the signature of a file. It returns the problem, or an empty text.
func (k *Key) vouches(path string, signature []byte, name string) string {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "is not a signature of minisign"
	}
	if s.KeyID != k.public.ID() {
		return fmt.Sprintf("is of the key %016X, and %016X is trusted", s.KeyID, k.public.ID())
	}
	sound, err := k.hasSigned(path, s.Algorithm == minisign.HashEdDSA, signature)
	switch {
	case err != nil:
		return "cannot be compared: " + err.Error()
	case !sound:
		return "is not the trusted key's signature of the download"
	}
	return speaksOf(signature, name)
}

// hasSigned reports whether the key has signed a file. A signature without a digest needs the whole file in memory.
func (k *Key) hasSigned(path string, ofDigest bool, signature []byte) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if ofDigest {
		reader := minisign.NewReader(f)
		_, err := io.Copy(io.Discard, reader)
		return err == nil && reader.Verify(k.public, signature), err
	}
	text, err := io.ReadAll(io.LimitReader(f, largestInMemory+1))
	if err == nil && len(text) > largestInMemory {
		err = fmt.Errorf("it is of the kind that minisign makes with -l, and the archive has more than %d bytes",
			largestInMemory)
	}
	return err == nil && minisign.Verify(k.public, text, signature), err
}

// speaksOf returns a problem if the verified trusted comment of a signature, in which minisign writes file:NAME, names
// another file. This prevents passing off an older release as a newer one.
func speaksOf(signature []byte, name string) string {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "is not a signature of minisign"
	}
	for field := range strings.FieldsSeq(s.TrustedComment) {
		if about, found := strings.CutPrefix(field, "file:"); found && name != "" && about != name {
			return "is the signature of " + about
		}
	}
	return ""
}

// beside reads a small file beside the archive; it returns nil if there is none.
func (i *Installation) beside(ctx context.Context, name string) ([]byte, error) {
	if i.File == "" {
		return i.small(ctx, strings.TrimSuffix(i.url(), i.asset())+name)
	}
	f, err := os.Open(i.File + signatureSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestChecksum+1))
	if err == nil && len(text) > largestChecksum {
		err = &httpget.FinalError{Problem: "it is too large"}
	}
	return text, err
}
