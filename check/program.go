package check

import "github.com/yamlhost/yamlhost/check/program"

// A checked program, in the words of its users: see the package program. Callers outside of check name these types by
// this package alone, so that the division into packages below it is no concern of theirs.
type (
	Program     = program.Program
	Node        = program.Node
	NodeKind    = program.NodeKind
	Edge        = program.Edge
	Config      = program.Config
	Resource    = program.Resource
	Output      = program.Output
	Component   = program.Component
	Dynamic     = program.Dynamic
	Hook        = program.Hook
	Transform   = program.Transform
	Policy      = program.Policy
	Ref         = program.Ref
	RefKind     = program.RefKind
	Call        = program.Call
	Invoke      = program.Invoke
	Method      = program.Method
	Bundle      = program.Bundle
	ConfigText  = program.ConfigText
	Vertex      = program.Vertex
	BundleFault = program.BundleFault
)

// The inputs of a check.
type (
	Options       = program.Options
	LocalPackage  = program.LocalPackage
	Manifest      = program.Manifest
	Bundler       = program.Bundler
	HandlerSource = program.HandlerSource
)

// The kinds of nodes.
const (
	ConfigNode   = program.ConfigNode
	VariableNode = program.VariableNode
	ResourceNode = program.ResourceNode
)

// The kinds of references.
const (
	RefNode   = program.RefNode
	RefPulumi = program.RefPulumi
	RefEach   = program.RefEach
	RefArgs   = program.RefArgs
	RefPolicy = program.RefPolicy
	RefBad    = program.RefBad
)
