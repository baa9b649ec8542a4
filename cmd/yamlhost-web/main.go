//go:build js && wasm

// Command yamlhost-web runs the checker, evaluator and engine in a browser. It adds an object yamlhost with functions
// to the global object and runs until the page is closed. Each function takes the program's text as its first argument
// and returns a promise.
package main

import (
	"context"
	"encoding/json"
	"sync"
	"syscall/js"

	"github.com/yamlhost/yamlhost/cmd/internal/playground"
)

func main() {
	p := playground.New()
	var one sync.Mutex // calls run one after the other, each with its own text
	api := map[string]any{}
	add := func(name string, answer func(ctx context.Context, args []js.Value) (any, error)) {
		api[name] = js.FuncOf(func(_ js.Value, args []js.Value) any {
			return promise(func() (any, error) {
				one.Lock()
				defer one.Unlock()
				p.Set(args[0].String())
				return answer(context.Background(), args[1:])
			})
		})
	}
	add("check", func(ctx context.Context, _ []js.Value) (any, error) { return p.Check(ctx) })
	add("graph", func(ctx context.Context, _ []js.Value) (any, error) { return p.Graph(ctx) })
	add("preview", func(ctx context.Context, _ []js.Value) (any, error) { return p.Preview(ctx) })
	add("format", func(ctx context.Context, _ []js.Value) (any, error) { return p.Format(ctx) })
	add("hover", func(ctx context.Context, args []js.Value) (any, error) { return p.Hover(ctx, args[0].Int()) })
	add("complete", func(ctx context.Context, args []js.Value) (any, error) {
		from, items, err := p.Complete(ctx, args[0].Int())
		return map[string]any{"from": from, "items": items}, err
	})
	js.Global().Set("yamlhost", js.ValueOf(api))
	select {}
}

// promise runs work in a goroutine and returns a promise of its result as JSON. An error rejects the promise.
func promise(work func() (any, error)) js.Value {
	var executor js.Func
	executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve, reject := args[0], args[1]
		go func() {
			defer executor.Release()
			answer, err := work()
			text, failed := json.Marshal(answer)
			if err == nil {
				err = failed
			}
			if err != nil {
				reject.Invoke(js.Global().Get("Error").New(err.Error()))
				return
			}
			resolve.Invoke(string(text))
		}()
		return nil
	})
	return js.Global().Get("Promise").New(executor)
}
