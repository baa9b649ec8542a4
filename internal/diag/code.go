package diag

// Code is the stable identifier of a kind of diagnostic (language.md, Appendix A).
type Code string

// The codes. Y1xx are found while reading a program, Y2xx while checking it, Y3xx while running it, and Y5xx across
// several projects.
const (
	NoProgram        Code = "Y100" // no program file (L1.6)
	Syntax           Code = "Y101" // YAML syntax (L1.E)
	Duplicate        Code = "Y102" // duplicate key or section (L1.E)
	KeyNotString     Code = "Y103" // key is list/map (L1.27)
	AliasLimit       Code = "Y104" // alias expansion limit (L1.28)
	UnknownKey       Code = "Y105" // unknown key (L1.23)
	Capitalisation   Code = "Y106" // capitalisation (L1.20)
	WrongKind        Code = "Y107" // wrong kind of node
	BadInterpolation Code = "Y108" // bad access syntax (L5.9)
	NotLiteral       Code = "Y109" // literal needed (L4.2, L3.B)
	BadTypeToken     Code = "Y110" // type token (L3.10, L7.1)
	CallHasSiblings  Code = "Y111" // fn:: key with siblings (L6.1)
	UnknownFunction  Code = "Y112" // unknown built-in (L6.2)
	BadArguments     Code = "Y113" // built-in arity or shape (L6.B)
	ConfigMissing    Code = "Y120" // missing value (L2.14, L2.37)
	ConfigConversion Code = "Y121" // conversion (L2.34)
	ConfigDefault    Code = "Y122" // default/type mismatch (L2.22)
	ConfigShadowed   Code = "Y123" // shadowing (L2.36)
	Undeclared       Code = "Y200" // undeclared name (L5.22)
	DeclaredTwice    Code = "Y201" // name in two sections (L3.1)
	Cycle            Code = "Y202" // cycle (L9.5)
	TokenNotFound    Code = "Y203" // token not found (L7.6)
	PackageMissing   Code = "Y204" // package missing (L7.22)
	UnknownProperty  Code = "Y210" // unknown property (L8.14)
	RequiredMissing  Code = "Y211" // required missing (L8.12)
	NotAssignable    Code = "Y212" // not assignable (L8.C)
	NotInEnum        Code = "Y213" // enum/const (L8.15, L8.17)
	BadDiscriminator Code = "Y214" // discriminator (L8.16)
	NoMember         Code = "Y215" // member missing (L8.5)
	NotIndexable     Code = "Y216" // not indexable (L5.E)
	NotPrintable     Code = "Y217" // not printable in a string (L5.C)
	NeedsResource    Code = "Y218" // option needs resource (L4.4)
	WrongProvider    Code = "Y219" // wrong package's provider (L4.20)
	Deprecated       Code = "Y220" // deprecated member (L8.21)
	NotKnownInTime   Code = "Y221" // outputs in plain place (L4.3, L8.18)
	BadSource        Code = "Y224" // a source file beside the program cannot be used (D15)
	BadDefinition    Code = "Y225" // a file of `crds` cannot be read (D21)
	UnwrittenOrder   Code = "Y226" // an object needs another one of the program but does not wait for it (D21)
	BadEnvironment   Code = "Y227" // an environment cannot be evaluated (F3.11)
	Malformed        Code = "Y222" // alias URN, timeout, property path malformed (L4.10, L4.13, L4.16)
	// a map with the key reserved for special values, or a value that a state cannot represent (F1.10)
	ReservedKey     Code = "Y223"
	IndexOutOfRange Code = "Y300" // index out of range (L5.34)
	AccessOnNull    Code = "Y301" // access on null (L5.33)
	FunctionFailed  Code = "Y302" // built-in failed (L6)
	InvokeFailed    Code = "Y303" // invoke failed (L6.43)
	CheckFailed     Code = "Y304" // provider check failed
	OperationFailed Code = "Y305" // provider operation failed
	FileAccess      Code = "Y306" // file access (L6.22, L6.50)
	VersionTooOld   Code = "Y307" // requiredVersion (L3.61)
	DuplicateURN    Code = "Y308" // duplicate URN (L3.18)
	PolicyViolated  Code = "Y310" // a policy of the program is violated (L10.C22)
	BudgetExceeded  Code = "Y309" // a value or the whole evaluation exceeds its budget
	BadNumber       Code = "Y114" // a number that would lose digits, or a date-like scalar (L1.26)
	Ignored         Code = "Y115" // text that has no effect: further documents, reserved keys (L1.29, L1.23)
	RunawayInput    Code = "Y116" // too deep, too large, not UTF-8 or not text at all
	Nameless        Code = "Y117" // an entry of a section without its name (L1.E)
	YamlhostOnly    Code = "Y400" // only yamlhost understands it (decision D6)
	ProjectCycle    Code = "Y500" // projects that depend on each other (D18)
	NoSuchStack     Code = "Y501" // a referenced stack that no project creates
	SameStack       Code = "Y502" // two projects with the same stack
)
