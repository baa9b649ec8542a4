package editor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

// TypeInfo describes a resource or function of a package. Its JSON form is a public contract.
type TypeInfo struct {
	Token       string       `json:"token"`
	Kind        string       `json:"kind"` // resource or function
	Description string       `json:"description,omitempty"`
	Deprecated  string       `json:"deprecated,omitempty"`
	Inputs      []MemberInfo `json:"inputs"`
	Outputs     []MemberInfo `json:"outputs"`
}

// MemberInfo is an input or an output.
type MemberInfo struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Required    bool     `json:"required,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	Description string   `json:"description,omitempty"`
	Values      []string `json:"values,omitempty"` // the allowed values of an enum
}

// Describe describes a resource or function by its token, from the packages of a file's program. It returns an error if
// the package, or the token in it, is unknown. It answers for the versions that the program uses, which may not be the
// newest.
func Describe(ctx context.Context, s *Snapshot, path, token string) (*TypeInfo, error) {
	p, pkg, err := s.packageOf(ctx, path, token)
	if err != nil {
		return nil, err
	}
	describe := func(kind, token, description, deprecated string, inputs, outputs *schema.Object) *TypeInfo {
		return &TypeInfo{Token: schema.CollapseToken(token), Kind: kind, Description: schema.Plain(description),
			Deprecated: deprecated, Inputs: memberInfos(ctx, p.Checked, inputs), Outputs: memberInfos(ctx, p.Checked,
				outputs)}
	}
	if r, err := pkg.ResolveResource(token); err == nil {
		return describe("resource", r.Token, r.Description, r.Deprecation, r.Inputs, r.Outputs), nil
	}
	f, err := pkg.ResolveFunction(token)
	if err != nil {
		return nil, fmt.Errorf("the package %s has no resource and no function %s", pkg.Name, token)
	}
	result, _ := schema.Required(f.Result).(*schema.Object)
	return describe("function", f.Token, f.Description, f.Deprecation, f.Inputs, result), nil
}

// maxTokens limits the answer of FindTokens.
const maxTokens = 200

// FindTokens returns the tokens of a package's resources and functions that contain letters, whatever their case, in
// alphabetical order. An assistant asks it before Describe, with a part of a name.
func FindTokens(ctx context.Context, s *Snapshot, path, name, letters string) ([]string, error) {
	_, pkg, err := s.packageOf(ctx, path, name)
	if err != nil {
		return nil, err
	}
	found := []string{}
	for _, token := range slices.Concat(pkg.ResourceTokens(), pkg.FunctionTokens()) {
		if short := schema.CollapseToken(token); strings.Contains(strings.ToLower(short), strings.ToLower(letters)) {
			found = append(found, short)
		}
	}
	slices.Sort(found)
	return found[:min(len(found), maxTokens)], nil
}

// packageOf returns the program of a file and the package of a token, which may be the package's name alone. The error
// names the known packages, because an assistant reads it.
func (s *Snapshot) packageOf(ctx context.Context, path, token string) (*Program, *schema.Package, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if p.Checked == nil {
		return nil, nil, errors.New("the file is not a program")
	}
	if pkg := p.load(ctx, token); pkg != nil {
		return p, pkg, nil
	}
	name, _, _ := strings.Cut(token, ":")
	return nil, nil, fmt.Errorf("the package %s is not known here; the known packages are "+
		"%s", name, strings.Join(p.Packages(), ", "))
}

// memberInfos describes the properties of an object; a nil object has none. The result is never nil, so that its JSON
// is a list.
func memberInfos(ctx context.Context, checked *check.Program, o *schema.Object) []MemberInfo {
	infos := []MemberInfo{}
	for _, m := range o.Properties() {
		info := MemberInfo{Name: m.Name, Type: schema.TypeName(schema.Required(m.Type)), Required: m.Required,
			Secret: m.Secret, Description: schema.Plain(m.Description)}
		if enum, ok := checked.Known(ctx, schema.Required(m.Type)).(*schema.Enum); ok {
			for _, v := range enum.Values {
				info.Values = append(info.Values, schema.ScalarText(v.Value))
			}
		}
		infos = append(infos, info)
	}
	return infos
}
