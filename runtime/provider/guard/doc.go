// Package guard wraps the providers of an engine, of every kind: it learns the secrets that go to providers and come
// from them and hides them in errors, whose reasons end up in the state, and it tells which calls take long. Anyone who
// embeds the engine wraps the loader of providers once:
//
//	g := guard.New(guard.Options{Secrets: masker, Slow: tell})
//	defer g.Watch()()
//	options.Providers = g.Loader(loader)
//
// It knows nothing of engines, terminals or plugins.
package guard
