package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	generated "github.com/yamlhost/yamlhost/tools/bench/program"
)

// TestOperations runs all operations on a program and counts the calls.
func TestOperations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, state := filepath.Join(dir, "Pulumi.yaml"), filepath.Join(dir, "dev.json")
	var mu sync.Mutex
	counts := map[string]int{}
	for _, step := range []struct {
		operation string
		edit      int
		calls     map[string]int
		left      int
	}{
		{"check", 0, nil, -1},
		{"preview", 0, map[string]int{"Check": 50, "Create": 50}, -1},
		{"up", 0, map[string]int{"Check": 50, "Create": 50}, 50},
		{"preview", 0, map[string]int{"Check": 50, "Diff": 50}, 50},
		{"up", 10, map[string]int{"Check": 50, "Diff": 50, "Update": 5}, 50},
		{"refresh", 10, map[string]int{"Read": 50, "Diff": 50}, 50},
		{"destroy", 10, map[string]int{"Delete": 50}, 0},
	} {
		if err := os.WriteFile(path, generated.YAML(50, step.edit), 0o644); err != nil {
			t.Fatal(err)
		}
		clear(counts)
		ask := func(method string, request message) message {
			mu.Lock()
			defer mu.Unlock()
			counts[method]++
			return local(method, request)
		}
		operate(ask, step.operation, path, state)
		delete(counts, "Configure")
		for method, want := range step.calls {
			if counts[method] != want {
				t.Errorf("%s asked %v, not %v", step.operation, counts, step.calls)
			}
		}
		if len(counts) != len(step.calls) {
			t.Errorf("%s asked %v, not %v", step.operation, counts, step.calls)
		}
		if step.left < 0 {
			continue
		}
		text, err := os.ReadFile(state)
		if err != nil || !json.Valid(text) || strings.Count(string(text), `{"urn":`) != step.left {
			t.Errorf("%s left %d resources, not %d: %v", step.operation, strings.Count(string(text), `{"urn":`), step.left, err)
		}
	}
}

// TestRequests decodes requests as plugins do.
func TestRequests(t *testing.T) {
	t.Parallel()
	d := &deployment{preview: true}
	r := &resource{urn: "the urn", name: "the name", typ: "the type", id: "the id",
		inputs: message{}.with("in", "1"), outputs: message{}.with("out", strings.Repeat("long ", 100))}
	for method, dst := range map[string]interface {
		proto.Message
		GetUrn() string
		GetName() string
		GetType() string
	}{
		"Check": &pulumirpc.CheckRequest{}, "Diff": &pulumirpc.DiffRequest{}, "Create": &pulumirpc.CreateRequest{},
		"Update": &pulumirpc.UpdateRequest{}, "Read": &pulumirpc.ReadRequest{}, "Delete": &pulumirpc.DeleteRequest{},
	} {
		var err error
		d.ask = func(_ string, request message) message { err = proto.Unmarshal(request, dst); return nil }
		if d.call(method, r, r, message{}.with("new", "3")); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if dst.GetUrn() != r.urn || dst.GetName() != r.name || dst.GetType() != r.typ {
			t.Errorf("%s: %v", method, dst)
		}
		text := dst.(interface{ String() string }).String()
		l := layouts[method]
		for part, used := range map[string]protowire.Number{"the id": l.id, `"out"`: l.outputs, `"in"`: l.inputs,
			`"new"`: l.news} {
			if strings.Contains(text, part) != (used > 0) {
				t.Errorf("%s has %s: %t; %s", method, part, used == 0, text)
			}
		}
		if len(dst.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("%s has fields that are not known", method)
		}
	}
}
