package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/tools/bench/program"
)

// measureSchemas checks a program of five resources against each schema of a folder: cold, with an empty home folder,
// from the gzipped file and from the plain one; and warm. For comparison it measures one pass over the JSON text,
// json.Valid of the plain file in a process of its own.
func measureSchemas(dir, schemas string) error {
	binary, self := filepath.Join(dir, "yamlhost"), filepath.Join(dir, "figures")
	for out, pkg := range map[string]string{binary: "./cmd/yamlhost", self: "./tools/bench/figures"} {
		if err := goBuild(out, pkg); err != nil {
			return err
		}
	}
	packed, err := filepath.Glob(filepath.Join(schemas, "*.json.gz"))
	if err != nil || len(packed) == 0 {
		return errors.Join(err, fmt.Errorf("-schemas: there are no .json.gz files in %s", schemas))
	}
	table := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "schema\tMiB\toperation\twall s\tcpu s\tpeak MB\t")
	for _, path := range packed {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		if err := measureSchema(table, filepath.Join(dir, name), name, path, binary, self); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return table.Flush()
}

func measureSchema(table io.Writer, dir, name, packed, binary, self string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "schema.json")
	if err := program.Unpack(packed, plain); err != nil {
		return err
	}
	// In another process, because the memory of this process would count as the peak of its children.
	resources, err := exec.Command(self, "-five", plain).Output()
	if err != nil {
		return err
	}
	text := "name: p\nruntime: yaml\nresources:\n" + string(resources)
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text), 0o644); err != nil {
		return err
	}
	info, err := os.Stat(plain)
	if err != nil {
		return err
	}
	check := func(path string) *exec.Cmd { return exec.Command(binary, "check", "--schema", path) }
	for _, op := range []struct {
		name, home string
		cmd        *exec.Cmd
	}{
		{"one scan", "", exec.Command(self, "-scan", plain)},
		{"check, cold", "plain", check(plain)},
		{"check, warm", "plain", check(plain)},
		{"check, cold, gzipped", "packed", check(packed)},
		{"check, warm, gzipped", "packed", check(packed)},
	} {
		f, err := measure(op.cmd, dir, []string{"PULUMI_HOME=" + filepath.Join(dir, op.home), "NO_COLOR=1"})
		var exit *exitError
		if errors.As(err, &exit) && exit.code == 12 {
			err = nil // resources lack inputs, which does not matter here
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%.3f\t%.3f\t%.0f\t\n", name, info.Size()>>20, op.name, f.Wall.Seconds(),
			f.CPU.Seconds(), float64(f.Peak)/1e6)
	}
	return nil
}

// five writes a program with the first five resources of a schema.
func five(path string) error {
	pkg, err := schema.OpenFile(path, "")
	if err != nil {
		return err
	}
	for i, token := range pkg.ResourceTokens()[:min(5, len(pkg.ResourceTokens()))] {
		fmt.Printf("  r%d: {type: %q}\n", i, token)
	}
	return nil
}

// scan validates a JSON text, which reads each byte once.
func scan(path string) error {
	text, err := os.ReadFile(path)
	if err == nil && !json.Valid(text) {
		err = errors.New("this is not JSON")
	}
	return err
}
