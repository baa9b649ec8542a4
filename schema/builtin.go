package schema

// builtinName is the package that the engine itself provides (L7.B).
const builtinName = "pulumi"

// StackReferenceToken is the type of stack references.
const StackReferenceToken = "pulumi:pulumi:StackReference"

const builtinSchema = `{
  "name": "pulumi",
  "description": "What the engine provides itself.",
  "resources": {
    "pulumi:index:Stash": {
      "description": "Keeps the first value that it is given, until it is replaced.",
      "inputProperties": {"input": {"$ref": "pulumi.json#/Any", "description": "The value to keep."}},
      "requiredInputs": ["input"],
      "properties": {
        "input": {"$ref": "pulumi.json#/Any", "description": "The value that the program gives now."},
        "output": {"$ref": "pulumi.json#/Any", "description": "The value that is kept."}
      },
      "required": ["input", "output"]
    },
    "pulumi:pulumi:StackReference": {
      "description": "Reads the outputs of another stack.",
      "inputProperties": {
        "name": {"type": "string", "plain": true, "description": "organization/project/stack; the resource's name by default."}
      },
      "properties": {
        "name": {"type": "string", "description": "The name of the other stack."},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}, "description": "Its outputs."},
        "secretOutputNames": {"type": "array", "items": {"type": "string"}, "description": "Which of them are secret."}
      },
      "required": ["name", "outputs", "secretOutputNames"]
    }
  }
}`

// Builtin is the schema of the package pulumi, which needs no plugin (L7.10). pulumi:StackReference names the stack
// reference too (L7.12). Providers, pulumi:providers:<package>, belong to their own packages.
func Builtin() (*Package, error) { return Parse([]byte(builtinSchema)) }
