package crd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/yamlhost/yamlhost/internal/confine"
)

// A cache forgets files that are gone, and has at most mostKept of the others.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := &Cache{}
	path := filepath.Join(t.TempDir(), "namespace.yaml")
	if err := os.WriteFile(path, []byte("kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if made := c.Making(t.Context(), confine.Anywhere(), path); len(made.Namespaces) != 1 || len(c.made) != 1 {
			t.Fatalf("a file makes %v, and %d are kept", made, len(c.made))
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if made := c.Making(t.Context(), confine.Anywhere(), path); len(made.Namespaces) != 0 || len(c.made) != 0 {
		t.Errorf("a file that is gone makes %v, and %d are kept", made, len(c.made))
	}
	for i := range mostKept + 10 {
		keep(&c.made, fmt.Sprint(i), &manifest{})
	}
	if len(c.made) != mostKept || c.made[fmt.Sprint(mostKept+9)] == nil {
		t.Errorf("%d are kept, and the last one is %v", len(c.made), c.made[fmt.Sprint(mostKept+9)])
	}
}
