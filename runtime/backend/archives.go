package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// archivesFolder is the folder of project archives. The Pulumi CLI never looks there. It cannot clash with the folder
// of a project, which is below yamlhost/.
const archivesFolder = "yamlhost-archives"

// archivePiece is the size in bytes of the files or objects that an archive is divided into. Sending one takes less
// than storeAnswer.
const archivePiece = 8 << 20

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Archives keeps archives of projects in a backend, each under its digest, for the queue.
type Archives struct{ files *files }

// Archives returns the archives in the backend. A service keeps none.
func (b *Backend) Archives() Archives { return Archives{b.files} }

// PutArchive keeps an archive of projects under its digest, until RemoveArchive. It may be there already.
func (a Archives) PutArchive(digest string, content io.Reader) error {
	if _, err := a.archiveFolder(digest); err != nil {
		return err
	}
	if err := a.files.prepare(); err != nil {
		return err
	}
	piece := make([]byte, archivePiece)
	for n := 0; ; n++ {
		size, err := io.ReadFull(content, piece)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		path := a.files.path(archivesFolder, digest, pieceName(n))
		if err := a.files.write("keep a piece of the archive as", path, bytes.Clone(piece[:size])); err != nil {
			return err
		}
	}
}

func pieceName(n int) string { return fmt.Sprintf("%08d", n) }

// Archive returns a reader of an archive, which reads piece by piece. The caller has to verify the digest. A missing
// archive gives fs.ErrNotExist.
func (a Archives) Archive(digest string) (io.Reader, error) {
	if _, err := a.archiveFolder(digest); err != nil {
		return nil, err
	}
	names, err := a.files.list(archivesFolder, digest)
	if err != nil {
		return nil, err
	}
	r := &archiveReader{files: a.files, digest: digest}
	for r.pieces < len(names) && names[r.pieces] == pieceName(r.pieces) {
		r.pieces++
	}
	if r.pieces == 0 {
		return nil, &FileError{Doing: "read the archive", Path: a.files.path(archivesFolder, digest), Err: fs.ErrNotExist}
	}
	return r, nil
}

// archiveReader reads the pieces of an archive one after the other.
type archiveReader struct {
	files        *files
	digest       string
	next, pieces int
	piece        bytes.Reader
}

func (r *archiveReader) Read(dst []byte) (int, error) {
	for r.piece.Len() == 0 {
		if r.next == r.pieces {
			return 0, io.EOF
		}
		path := r.files.path(archivesFolder, r.digest, pieceName(r.next))
		data, err := r.files.disk.ReadFile(path)
		if err != nil {
			return 0, &FileError{Doing: "read a piece of the archive", Path: path, Err: err}
		}
		r.next++
		r.piece.Reset(data)
	}
	return r.piece.Read(dst)
}

// RemoveArchive removes an archive, if it is there.
func (a Archives) RemoveArchive(digest string) error {
	folder, err := a.archiveFolder(digest)
	if err != nil {
		return err
	}
	names, err := a.files.list(archivesFolder, digest)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := a.files.remove("remove a piece of the archive", a.files.path(archivesFolder, digest, name)); err != nil {
			return err
		}
	}
	if a.files.objects != nil {
		return nil
	}
	return fileError("remove the folder of the archive", folder, disk.RemoveIfThere(a.files.disk, folder))
}

// archiveFolder returns the folder of the archive with a digest, or an error if the digest is malformed.
func (a Archives) archiveFolder(digest string) (string, error) {
	if IsService(a.files.url) {
		return "", fmt.Errorf("archives of projects are kept in a folder, a bucket or a database: %w", errHosted)
	}
	if !digestPattern.MatchString(digest) {
		return "", fmt.Errorf("%q is not a digest of an archive", digest)
	}
	return a.files.path(archivesFolder, digest), nil
}
