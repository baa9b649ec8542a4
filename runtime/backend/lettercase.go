package backend

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// stackName compares the name of a stack in a folder with those of others that differ from it only in letter case.
type stackName stack

// mistaken returns a *TwinError if a state file in a folder was found only because the file system does not distinguish
// letter case. It lists names only if there is a file with the other case.
func (b stackName) mistaken(path string) error {
	project, stack := otherCase(b.ref.Project), otherCase(b.ref.Stack)
	suffix := strings.TrimPrefix(filepath.Base(path), b.ref.Stack)
	if b.files.objects != nil || project == b.ref.Project && stack == b.ref.Stack {
		return nil
	}
	if _, err := b.files.disk.ModTime(b.files.path("stacks", project, stack+suffix)); err != nil {
		return nil // another file system, or a fault that the next read meets again
	}
	twin := b.ref
	for _, part := range []struct {
		name   *string
		suffix string
		folder []string
	}{{&twin.Project, "/", []string{"stacks"}}, {&twin.Stack, suffix, []string{"stacks", b.ref.Project}}} {
		names, err := b.files.list(part.folder...)
		if err != nil {
			return err
		}
		if other, ok := twinOf(*part.name+part.suffix, names); ok {
			*part.name = strings.TrimSuffix(other, part.suffix)
		}
	}
	if twin != b.ref {
		return &TwinError{b.ref, twin}
	}
	return nil
}

// mayBeNew returns a *TwinError for a new stack in a folder that has its project in another letter case, if the file
// system does not distinguish the two. Of a file system that does, the folder may come to one that does not: mayBeNew
// warns if the name of the stack differs from another one, but for was, only in letter case.
func (b stackName) mayBeNew(was Ref) error {
	if b.files.objects != nil {
		return nil
	}
	projects, err := b.files.list("stacks")
	if err != nil {
		return err
	}
	if other, ok := twinOf(b.ref.Project+"/", projects); ok {
		if _, err := b.files.disk.ModTime(b.files.path("stacks", b.ref.Project)); err == nil {
			return &TwinError{b.ref, Ref{Project: strings.TrimSuffix(other, "/"), Stack: b.ref.Stack}}
		}
	}
	names, err := b.files.list("stacks", b.ref.Project)
	if err != nil || b.files.o.Note == nil {
		return err
	}
	for _, name := range names {
		stack, ok := stackOf(name)
		known := stack == b.ref.Stack || was == Ref{Project: b.ref.Project, Stack: stack}
		if ok && !known && strings.EqualFold(stack, b.ref.Stack) {
			b.files.o.Note(fmt.Sprintf("warning: the stack %q differs from %q only in letter case: file systems of Windows and "+
				"macOS cannot keep both, neither the states nor the files Pulumi.%s.yaml and Pulumi.%s.yaml; `yamlhost stack "+
				"rename` gives one another name", b.ref.Stack, stack, b.ref.Stack, stack))
			break
		}
	}
	return nil
}

// twinOf returns the name among others that differs from name only in letter case, unless name itself is among them.
func twinOf(name string, names []string) (twin string, ok bool) {
	if slices.Contains(names, name) {
		return "", false
	}
	i := slices.IndexFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// otherCase returns a name with small letters for capital ones, and the reverse.
func otherCase(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return c
	}, name)
}
