package policy

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/analyzer"
)

// Lazy is a pack that is opened by the first call which needs its policies. The Pulumi CLI loads one plugin at a time:
// while it starts a pack and configures it for a stack, it cannot start the providers whose schemas the pack needs.
// Lazy is safe for concurrent use.
type Lazy struct {
	open func() (*Pack, error)

	mu    sync.Mutex // guards what follows
	pack  *Pack
	err   error
	stack *analyzer.Stack
}

// NewLazy returns a pack that open opens.
func NewLazy(open func() (*Pack, error)) *Lazy { return &Lazy{open: open} }

// opened returns the pack, configured for the stack. What is wrong with it is wrong for all calls.
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
func (p *Lazy) Info(ctx context.Context) (info analyzer.Info, err error) {
	pack, err := p.opened(ctx)
	if err == nil {
		info, err = pack.Info(ctx)
	}
	return info, err
}

// Configure gives each policy its configuration.
func (p *Lazy) Configure(ctx context.Context, config map[string]analyzer.Config) error {
	pack, err := p.opened(ctx)
	if err == nil {
		err = pack.Configure(ctx, config)
	}
	return err
}

// Remediate returns the changes to the inputs of a resource.
func (p *Lazy) Remediate(ctx context.Context, r analyzer.Resource) (list []analyzer.Remediation, err error) {
	pack, err := p.opened(ctx)
	if err == nil {
		list, err = pack.Remediate(ctx, r)
	}
	return list, err
}

// Analyze returns the violations of one resource.
func (p *Lazy) Analyze(ctx context.Context, r analyzer.Resource) (list []analyzer.Violation, err error) {
	pack, err := p.opened(ctx)
	if err == nil {
		list, err = pack.Analyze(ctx, r)
	}
	return list, err
}

// AnalyzeStack returns the violations of all resources together.
func (p *Lazy) AnalyzeStack(ctx context.Context, all []analyzer.Resource) (list []analyzer.Violation, err error) {
	pack, err := p.opened(ctx)
	if err == nil {
		list, err = pack.AnalyzeStack(ctx, all)
	}
	return list, err
}

// Close has nothing to end.
func (*Lazy) Close() error { return nil }
