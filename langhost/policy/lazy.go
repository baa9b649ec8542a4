package policy

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/analyzer"
)

// Lazy is a pack that is opened at the first call that needs its policies. The Pulumi CLI loads one plugin at a time:
// while it starts a pack and configures it for a stack, it cannot start the providers whose schemas the pack needs.
// Lazy is safe for concurrent use.
type Lazy struct {
	open func() (*Pack, error)

	mu    sync.Mutex // guards the fields below
	pack  *Pack
	err   error
	stack *analyzer.Stack
}

// NewLazy returns a pack that is opened by open, which is called at most once.
func NewLazy(open func() (*Pack, error)) *Lazy { return &Lazy{open: open} }

// opened returns the pack, configured for the stack. If opening fails, all later calls return the same error.
func (p *Lazy) opened(ctx context.Context) (*Pack, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pack == nil && p.err == nil {
		p.pack, p.err = p.open()
		if p.err == nil && p.stack != nil {
			p.err = p.pack.ConfigureStack(ctx, *p.stack)
		}
	}
	return p.pack, p.err
}

// ConfigureStack keeps the stack until the pack is opened.
func (p *Lazy) ConfigureStack(ctx context.Context, s analyzer.Stack) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stack = &s
	if p.pack == nil {
		return nil
	}
	return p.pack.ConfigureStack(ctx, s)
}

// Info describes the pack.
func (p *Lazy) Info(ctx context.Context) (analyzer.Info, error) {
	pack, err := p.opened(ctx)
	if err != nil {
		return analyzer.Info{}, err
	}
	return pack.Info(ctx)
}

// Configure gives each policy its configuration.
func (p *Lazy) Configure(ctx context.Context, config map[string]analyzer.Config) error {
	pack, err := p.opened(ctx)
	if err != nil {
		return err
	}
	return pack.Configure(ctx, config)
}

// lists calls question on the opened pack.
func lists[About, Answer any](ctx context.Context, p *Lazy,
	question func(*Pack, context.Context, About) ([]Answer, error), about About) ([]Answer, error) {
	pack, err := p.opened(ctx)
	if err != nil {
		return nil, err
	}
	return question(pack, ctx, about)
}

// Remediate returns the changes to the inputs of a resource.
func (p *Lazy) Remediate(ctx context.Context, r analyzer.Resource) ([]analyzer.Remediation, error) {
	return lists(ctx, p, (*Pack).Remediate, r)
}

// Analyze returns the violations of one resource.
func (p *Lazy) Analyze(ctx context.Context, r analyzer.Resource) ([]analyzer.Violation, error) {
	return lists(ctx, p, (*Pack).Analyze, r)
}

// AnalyzeStack returns the violations of all resources together.
func (p *Lazy) AnalyzeStack(ctx context.Context, all []analyzer.Resource) ([]analyzer.Violation, error) {
	return lists(ctx, p, (*Pack).AnalyzeStack, all)
}

// Close does nothing.
func (*Lazy) Close() error { return nil }
