package eval

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// checkVersion compares pulumi.requiredVersion with the engine's version (L3.60, L3.61).
func (e *evaluator) checkVersion(ctx context.Context, fr *frame) *fault {
	if fr.body.File == nil || fr.body.File.RequiredVersion == nil {
		return nil
	}
	rng := fr.body.File.RequiredVersion.Range()
	s := scope{e: e, frame: fr}
	v, f := s.eval(ctx, fr.body.File.RequiredVersion)
	if f != nil {
		return f
	}
	if !v.IsKnown() {
		return blame(diag.VersionTooOld, rng, "use configuration values or variables that are known in a preview",
			"requiredVersion must be known before anything is created")
	}
	text, ok := v.AsString()
	if !ok {
		return blame(diag.VersionTooOld, rng, `write it in quotes, such as ">=3.100.0"`,
			"requiredVersion must be a string, not %s", kindOf(v))
	}
	shown := text
	if v.IsSecret() {
		shown = "a secret range"
	}
	wanted, err := parseRange(text)
	if err != nil {
		return blame(diag.VersionTooOld, rng, `a range looks like ">=3.100.0 <4.0.0" or "<3.0.0 || >=3.50.0"`,
			"requiredVersion: %s is not a range of versions", shown)
	}
	if ask := e.options.RequireVersion; ask != nil {
		// The Pulumi CLI accepts no leading v in a range.
		if err := ask(ctx, versionPrefix().ReplaceAllString(text, "$1$2")); err != nil {
			return blame(diag.VersionTooOld, rng, "", "%s", redact(err.Error(), v))
		}
		return nil
	}
	if e.options.EngineVersion == "" {
		return nil
	}
	have, err := semver.NewVersion(e.options.EngineVersion)
	if err != nil || wanted.Check(have) {
		return nil
	}
	return blame(diag.VersionTooOld, rng, "", "needs Pulumi %s, this is %s", shown, e.options.EngineVersion)
}

var soleExclamation = lazyregexp.New(`!([^=]|$)`)

// versionPrefix matches the leading v of a version in a range.
var versionPrefix = lazyregexp.New(`(^|[^0-9A-Za-z.+-])v([0-9])`)

// parseRange parses a range in which a space means "and", and "!" alone means "!=".
func parseRange(text string) (*semver.Constraints, error) {
	c, err := semver.NewConstraint(soleExclamation().ReplaceAllString(text, "!=$1"))
	if err != nil {
		return nil, err
	}
	c.IncludePrerelease = true // 3.260.0-dev satisfies >=3.100.0
	return c, nil
}
