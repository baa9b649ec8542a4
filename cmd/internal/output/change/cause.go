package change

import (
	"cmp"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// CauseKind is what kind of thing is a reason for a change. Its text is a contract of JSON documents.
type CauseKind string

// The kinds of causes.
const (
	ByLiteral   CauseKind = "literal"          // a value in the program's text
	ByConfig    CauseKind = "config"           // a configuration value
	ByVariable  CauseKind = "variable"         // a variable of the program, and what it is made from
	ByInput     CauseKind = "input"            // an input of a component
	ByFunction  CauseKind = "function"         // the result of a call
	ByOutput    CauseKind = "output"           // an output of another resource, or of a component
	ByStack     CauseKind = "stack"            // an output of another stack
	ByEach      CauseKind = "forEach"          // the collection of a resource's forEach
	ByTransform CauseKind = "transform"        // a transform of the program
	ByPolicy    CauseKind = "policy"           // the remedy of a policy
	ByDefault   CauseKind = "schemaDefault"    // a default of the package's schema
	ByProvider  CauseKind = "provider"         // the resource's provider: it sets the value, or has changed itself
	ByDrift     CauseKind = "drift"            // a refresh has found another value
	ByTrigger   CauseKind = "trigger"          // the option replacementTrigger
	ByWith      CauseKind = "replaceWith"      // a resource of the option replaceWith, or of deletedWith
	ByRequest   CauseKind = "replaceRequest"   // --replace
	ByTaint     CauseKind = "taint"            // a mark in the state
	ByInit      CauseKind = "initErrors"       // an earlier creation that was not completed
	ByPending   CauseKind = "earlierOperation" // a replacement that an earlier operation has not finished
	ByNew       CauseKind = "new"              // the program has the resource, and the state has not
	ByRemoved   CauseKind = "removed"          // the state has the resource, and the program has not
	ByDestroy   CauseKind = "destroy"          // the operation deletes everything in its scope
	ByOption    CauseKind = "option"           // an option of the resource
)

// Place is a place in a text of the project.
type Place struct {
	File string `json:"file"` // relative to the project's folder, with slashes
	Line int    `json:"line"`
}

// String returns file:line; empty for no place.
func (p Place) String() string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Cause is one reason for a change. It never has a value, so that it has no secret.
type Cause struct {
	Kind CauseKind
	Name string  // of the key, variable, function, resource, output, stack or policy
	URN  urn.URN // of the resource whose change is the reason; its own changes have their causes
	Op   string  // what happens to that resource, in words such as "is replaced"
	From string  // of a configuration value: the file of the stack, an environment or a default
	At   Place   // zero for a cause that no text of the project has
	// Own reports whether this is the text of the changed property itself, which needs no telling.
	Own bool
	// Possible reports whether the former value is not known: the change is made from this, and may have another
	// reason.
	Possible bool
	By       []Cause // what is behind it, nearest first; empty at a root, and for a resource
}

// Words describes a cause in a few words, with its place.
func (c *Cause) Words() string {
	text := c.what()
	if place := c.At.String(); place != "" {
		text += ", " + place
	}
	if c.Possible {
		text = "perhaps " + text
	}
	return text
}

func (c *Cause) what() string {
	switch c.Kind {
	case ByLiteral:
		return "the program"
	case ByConfig:
		if c.From != "" {
			return "config " + c.Name + " (" + c.From + ")"
		}
		return "config " + c.Name
	case ByVariable:
		return "variable " + c.Name
	case ByInput:
		return "input " + c.Name
	case ByFunction:
		return c.Name
	case ByOutput:
		return c.Name + " " + c.Op
	case ByStack:
		return "output of the stack " + c.Name
	case ByEach:
		return "forEach"
	case ByTransform:
		return "transform"
	case ByPolicy:
		return "remedy of the policy " + c.Name
	case ByDefault:
		return "default of the schema"
	case ByProvider:
		return cmp.Or(c.Name, "set by the provider")
	case ByDrift:
		return cmp.Or(c.Name, "changed outside of the program")
	case ByTrigger:
		return "replacementTrigger"
	case ByWith:
		return c.Name + " " + c.Op
	case ByRequest:
		return "--replace"
	case ByTaint:
		return "tainted"
	case ByInit:
		return "not initialized completely"
	case ByPending:
		return "an earlier replacement was not finished"
	case ByNew:
		return "new in the program"
	case ByRemoved:
		return "not in the program any more"
	case ByDestroy:
		return "destroy deletes all that is in its scope"
	case ByOption:
		return "option " + c.Name
	}
	return string(c.Kind)
}
