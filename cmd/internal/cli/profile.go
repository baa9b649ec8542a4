package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// profile records what a command costs, for `go tool pprof` and `go tool trace`. One process has at most one at a time.
type profile struct {
	dir   string // empty while nothing is recorded
	files []*os.File
}

// start begins to record into files of a folder, which it makes if it is missing.
func (p *profile) start(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	for _, recorder := range []struct {
		name  string
		begin func(*os.File) error
	}{
		{"cpu.pprof", func(f *os.File) error { return pprof.StartCPUProfile(f) }},
		{"trace.out", func(f *os.File) error { return trace.Start(f) }},
	} {
		f, err := os.Create(filepath.Join(dir, recorder.name))
		if err == nil {
			p.files = append(p.files, f)
			err = recorder.begin(f)
		}
		if err != nil {
			return fmt.Errorf("--profile: %w", errors.Join(err, p.end()))
		}
	}
	runtime.SetMutexProfileFraction(1)
	p.dir = dir
	return nil
}

// stop writes what was recorded since start. Without a start it does nothing.
func (p *profile) stop() error {
	if p.dir == "" {
		return nil
	}
	err := p.end()
	// the profile of allocations has the heap too
	for name, file := range map[string]string{"mutex": "mutex.pprof", "allocs": "heap.pprof"} {
		f, failed := os.Create(filepath.Join(p.dir, file))
		if failed == nil {
			failed = errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
		}
		err = errors.Join(err, failed)
	}
	runtime.SetMutexProfileFraction(0)
	p.dir = ""
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	return nil
}

// end stops what writes as it goes.
func (p *profile) end() (err error) {
	pprof.StopCPUProfile()
	trace.Stop()
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.files = nil
	return err
}
