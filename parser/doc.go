// Package parser parses the text of a program into a syntax tree.
//
// Parse reads YAML, including JSON, and returns an ast.File and all faults that can be found without knowing the
// meaning of names: syntax errors, unknown and repeated keys, fields of the wrong kind, malformed interpolations. It
// resolves aliases and merge keys, splits scalars into text and expressions, and parses the expressions inside of
// `${…}`, in Pulumi's grammar if possible and otherwise in HCL's. It always returns a usable tree.
//
// The package does not know what names refer to, which functions or resource types exist, or what types values have;
// that is the task of package check. It does not expose HCL, which it alone uses for programs in YAML; langhost/pcl
// reads PCL with it.
// Package yamlnode reads the YAML.
//
// The files of this package, in layers. The code of each file uses only what stands above it, but for transforms and
// options, which hold each other:
//
//	findings.go   diagnostics of a text                    keys.go      the keys that the language defines
//	yaml.go       the YAML of a text                       cut.go       divides a text into stretches, by its lines
//
//	mapping.go    nodes as maps: keys, merge keys, and how far aliases may expand
//	fields.go     maps whose keys the language defines
//	configtype.go the notation of types                    scope.go     the names in scope
//	blocks.go     a stretch that is parsed by itself, with what was read from it
//	blockset.go   a text divided into blocks
//
//	access.go     Pulumi's grammar inside of `${…}`        operators.go HCL's grammar
//	lower.go      HCL's tree, converted into ast           interpolation.go the texts of scalars
//	expression.go nodes as expressions
//
//	section.go    the entries of sections                  transform.go, option.go transforms and options
//	config.go, resource.go, dynamic.go, policy.go          one for each kind of declaration
//
//	program.go    the sections of a program                load.go      finds the sections of a text
//	include.go    a program in several texts               parse.go     Parse and its like
//	reuse.go      what a document keeps from one edit to the next
//	document.go   a text that is being edited              span.go      its entries with their places
//	format.go, arrange.go                                  layouts of texts
//	cursor.go     the syntax at a position of a text that is being typed
//	injson.go     advice about programs in JSON
//
// Each layer has one struct with named fields. A yamlText has a tree of nodes and findings. A nodeReader reads nodes as
// maps, lists and literals; it owns the expansion of aliases. A textReader parses the text of a scalar in a scope, and
// an exprReader reads nodes as expressions with it. A bodyReader reads the sections of a program or a component, with
// one reader for each kind of declaration that has many fields. An outline holds the sections of a text until all names
// are known that the texts of the program declare. A reader passes on what the next one needs; none embeds another.
package parser
