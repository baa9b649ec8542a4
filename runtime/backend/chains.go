package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// stackChains are the chains of a stack in a store: the one of the run that holds the lease, and those that other runs
// have left.
type stackChains struct{ stack }

// folder returns the folder that holds a folder for each chain.
func (b stackChains) folder() string { return path.Join(b.workFolder(b.ref), "journal") }

// of returns the folder of the chain of a generation of the lease.
func (b stackChains) of(generation int64) string {
	return path.Join(b.folder(), fmt.Sprintf("%012d", generation))
}

// list returns the folders of the chains of a stack, oldest first.
func (b stackChains) list() ([]string, error) {
	prefix := b.folder() + "/"
	found, err := b.objects.list(prefix)
	if err != nil {
		return nil, &FileError{Doing: "look for journals in", Path: b.folder(), Err: err}
	}
	var folders []string
	for _, f := range found {
		if folder, ok := strings.CutSuffix(f.Key, "/"); ok {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// readers is how many links are read at the same time.
const readers = 16

// read reads a chain. Links that are removed meanwhile are not there.
func (b stackChains) read(folder string) (*links, error) {
	failed := func(err error) error { return &FileError{Doing: "read the journal", Path: folder, Err: err} }
	found, err := b.objects.list(folder + "/")
	if err != nil {
		return nil, failed(err)
	}
	l := &links{folder: folder, data: map[int][]byte{}}
	var mu sync.Mutex // guards l.data
	var group errgroup.Group
	group.SetLimit(readers)
	for _, f := range found {
		var n int
		if _, err := fmt.Sscanf(path.Base(f.Key), "%d", &n); err != nil || linkKey(folder, n) != f.Key {
			continue
		}
		l.numbers, l.modified = append(l.numbers, n), f.Modified
		group.Go(func() error {
			o, err := b.objects.get(f.Key)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			} else if err == nil {
				mu.Lock()
				defer mu.Unlock()
				l.data[n] = o.Data
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, failed(err)
	}
	return l, nil
}

// append puts a link at the end of somebody else's chain, wherever that is by now. The caller holds the lease.
func (b stackChains) append(h *heldLock, l *links, data []byte) error {
	for {
		_, err := b.objects.put(linkKey(l.folder, l.next()), data, Condition{Absent: true})
		switch {
		case err == nil:
			l.data[l.next()] = data
			l.numbers = append(l.numbers, l.next())
			return h.lease.check()
		case !errors.Is(err, ErrChanged):
			return &FileError{Doing: "close the journal", Path: l.folder, Err: err}
		}
		if err := h.lease.renew(); err != nil {
			return err
		}
		again, err := b.read(l.folder)
		if err != nil {
			return err
		}
		*l = *again
	}
}

// fence closes the chains of all others, so that none of them can journal anything any more. Those that have left
// anything behind, or may have, are kept in h.
func (b stackChains) fence(h *heldLock) error {
	folders, err := b.list()
	if err != nil {
		return err
	}
	merged := h.lease.mergedTo()
	for i, folder := range folders {
		// Of those that are merged only the oldest is looked at, to see whether it is old enough to go.
		if folder == h.chain.folder || i > 0 && generationOf(folder) <= merged {
			continue
		}
		l, err := b.read(folder)
		if err != nil {
			return err
		}
		if len(l.numbers) == 0 {
			continue
		}
		if generationOf(folder) <= merged || l.merged() {
			if b.o.Now().Sub(l.modified) > fenceAge {
				b.dropLinks(l, l.next())
			}
			continue
		}
		if err := b.append(h, l, []byte(markFence+uuid.NewString())); err != nil {
			return err
		}
		h.left = append(h.left, l)
	}
	return nil
}

// dropLinks removes links before a number, from the first on. A link that remains does no harm.
func (b stackChains) dropLinks(l *links, before int) {
	for _, n := range l.numbers {
		if n >= before || b.objects.delete(linkKey(l.folder, n)) != nil {
			return
		}
	}
}

// noteMerged notes that what a chain held is in the state file, and removes it but for the fence that keeps its writer
// out.
func (b stackChains) noteMerged(h *heldLock, l *links) error {
	fence := l.next() - 1
	for i, n := range l.numbers {
		if bytes.HasPrefix(l.data[n], []byte(markFence)) {
			fence = l.numbers[i]
			break
		}
	}
	if err := b.append(h, l, []byte(markMerged+uuid.NewString())); err != nil {
		return err
	}
	b.dropLinks(l, fence)
	return nil
}

// journal returns the links of a journal in a store: at most one chain holds something that is not in the state
// yet, the newest that is not merged into it.
func (b stackChains) journal() ([]byte, error) {
	folders, err := b.list()
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	lease, _, err := b.leaseOf(b.ref).read()
	if err != nil && !errors.As(err, new(*CorruptError)) {
		return nil, err
	}
	for i := len(folders) - 1; i >= 0 && generationOf(folders[i]) > lease.Merged; i-- {
		l, err := b.read(folders[i])
		if err != nil {
			return nil, err
		}
		if l.merged() {
			continue
		}
		if data, err := l.journal(); err != nil || data != nil {
			return data, err
		}
	}
	return nil, nil
}

// noteAllMerged records that the state file has the content of other runs' journals.
func (b stackChains) noteAllMerged(h *heldLock) error {
	for _, l := range h.left {
		if err := b.noteMerged(h, l); err != nil {
			return h.explain(err)
		}
	}
	if len(h.left) == 0 {
		return nil
	}
	h.left = nil
	return h.explain(h.lease.noteMerged())
}
