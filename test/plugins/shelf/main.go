// Command pulumi-resource-shelf is a provider for tests whose objects are files in a folder, so that tests can inspect
// and count them. The folder is the provider's configuration shelf:dir.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	provider "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
)

const version = "1.0.0"

// Config is the provider's configuration.
type Config struct {
	Dir   string `pulumi:"dir"`
	Token string `pulumi:"token,optional" provider:"secret"`
	// Region comes from the environment of the provider's process if the program does not set it.
	Region string `pulumi:"region,optional"`
}

// Annotate names the environment variable of region.
func (c *Config) Annotate(a infer.Annotator) { a.SetDefault(&c.Region, nil, "SHELF_REGION") }

// Item is a resource: one file in the folder.
type Item struct{}

// ItemInputs are the inputs of an item.
type ItemInputs struct {
	Title string            `pulumi:"title"`
	Kind  string            `pulumi:"kind,optional"` // a change replaces the item
	Tags  map[string]string `pulumi:"tags,optional"`
	Pages []int             `pulumi:"pages,optional"`
	Note  string            `pulumi:"note,optional" provider:"secret"`
	Fail  string            `pulumi:"fail,optional"` // the operation that is to fail
}

// ItemState holds the outputs of an item.
type ItemState struct {
	ItemInputs
	Path     string `pulumi:"path"`
	Revision int    `pulumi:"revision"`
}

func path(ctx context.Context, id string) string {
	return filepath.Join(infer.GetConfig[Config](ctx).Dir, id+".json")
}

func save(path string, state ItemState) error {
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Create writes the file.
func (Item) Create(ctx context.Context, r infer.CreateRequest[ItemInputs]) (infer.CreateResponse[ItemState], error) {
	state := ItemState{ItemInputs: r.Inputs, Revision: 1}
	if r.DryRun {
		return infer.CreateResponse[ItemState]{Output: state}, nil
	}
	if r.Inputs.Fail == "create" {
		return infer.CreateResponse[ItemState]{}, errors.New("the shelf is full")
	}
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		return infer.CreateResponse[ItemState]{}, err
	}
	id := r.Name + "-" + hex.EncodeToString(random)
	state.Path = path(ctx, id)
	if err := save(state.Path, state); err != nil {
		return infer.CreateResponse[ItemState]{}, err
	}
	return infer.CreateResponse[ItemState]{ID: id, Output: state}, nil
}

// Update rewrites the file.
func (Item) Update(ctx context.Context, r infer.UpdateRequest[ItemInputs, ItemState]) (infer.UpdateResponse[ItemState],
	error) {
	state := ItemState{ItemInputs: r.Inputs, Path: r.State.Path, Revision: r.State.Revision + 1}
	if r.DryRun {
		return infer.UpdateResponse[ItemState]{Output: state}, nil
	}
	if r.Inputs.Fail == "update" {
		return infer.UpdateResponse[ItemState]{}, errors.New("the item is chained to the shelf")
	}
	return infer.UpdateResponse[ItemState]{Output: state}, save(state.Path, state)
}

// Read reads the file.
func (Item) Read(ctx context.Context, r infer.ReadRequest[ItemInputs, ItemState]) (infer.ReadResponse[ItemInputs,
	ItemState], error) {
	text, err := os.ReadFile(path(ctx, r.ID))
	if errors.Is(err, os.ErrNotExist) {
		return infer.ReadResponse[ItemInputs, ItemState]{}, nil
	}
	if err != nil {
		return infer.ReadResponse[ItemInputs, ItemState]{}, err
	}
	var state ItemState
	if err := json.Unmarshal(text, &state); err != nil {
		return infer.ReadResponse[ItemInputs, ItemState]{}, err
	}
	return infer.ReadResponse[ItemInputs, ItemState]{ID: r.ID, Inputs: state.ItemInputs, State: state}, nil
}

// Delete removes the file.
func (Item) Delete(ctx context.Context, r infer.DeleteRequest[ItemState]) (infer.DeleteResponse, error) {
	if r.State.Fail == "delete" {
		return infer.DeleteResponse{}, errors.New("the item does not let go")
	}
	return infer.DeleteResponse{}, os.Remove(path(ctx, r.ID))
}

// Diff replaces the item when its kind changes.
func (Item) Diff(_ context.Context, r infer.DiffRequest[ItemInputs, ItemState]) (infer.DiffResponse, error) {
	diff := map[string]provider.PropertyDiff{}
	update := func(name string, changed bool, kind provider.DiffKind) {
		if changed {
			diff[name] = provider.PropertyDiff{Kind: kind, InputDiff: true}
		}
	}
	old, new := r.State.ItemInputs, r.Inputs
	update("kind", old.Kind != new.Kind, provider.UpdateReplace)
	update("title", old.Title != new.Title, provider.Update)
	update("note", old.Note != new.Note, provider.Update)
	update("fail", old.Fail != new.Fail, provider.Update)
	update("tags", fmt.Sprint(old.Tags) != fmt.Sprint(new.Tags), provider.Update)
	update("pages", fmt.Sprint(old.Pages) != fmt.Sprint(new.Pages), provider.Update)
	return infer.DiffResponse{HasChanges: len(diff) > 0, DetailedDiff: diff}, nil
}

// Count is a function that returns the number of items on the shelf.
type Count struct{}

// CountArgs are its arguments.
type CountArgs struct {
	Plus int `pulumi:"plus,optional"`
}

// CountResult is its result.
type CountResult struct {
	Items int `pulumi:"items"`
}

// Invoke counts the files.
func (Count) Invoke(ctx context.Context, r infer.FunctionRequest[CountArgs]) (infer.FunctionResponse[CountResult],
	error) {
	files, err := filepath.Glob(path(ctx, "*"))
	return infer.FunctionResponse[CountResult]{Output: CountResult{Items: len(files) + r.Input.Plus}}, err
}

func main() {
	p, err := infer.NewProviderBuilder().
		WithConfig(infer.Config(Config{})).
		WithResources(infer.Resource(Item{}), infer.Resource(Label{})).
		WithFunctions(infer.Function(Count{})).
		WithComponents(infer.ComponentF(NewTrilogy)).
		Build()
	if err == nil {
		err = provider.RunProvider(context.Background(), "shelf", version, p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
