package check_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Spellings of other tools and languages give a finding at the place of the fault, with the correct spelling and, if it
// is certain, a fix.
func TestWordsOfOthers(t *testing.T) {
	t.Parallel()
	const pw = "resources:\n  pw: {type: 'random:RandomPassword', properties: {length: 8}}\n"
	for name, c := range map[string]struct {
		text, at, detail, fixed string
	}{
		"a section before a name": {pw + "outputs: {a: '${resources.pw.result}', b: '${resources.pw.id}'}\n", "resources",
			"a name is written without its section: write `${pw.result}`", pw +
				"outputs: {a: '${pw.result}', b: '${pw.id}'}\n"},
		"config before a name": {"config: {region: {default: x}}\noutputs: {a: '${config.region}'}\n", "config",
			"write `${region}`", "config: {region: {default: x}}\noutputs: {a: '${region}'}\n"},
		"var before a name": {"variables: {region: x}\noutputs: {a: 'in ${var.region}'}\n", "var", "write `${region}`",
			"variables: {region: x}\noutputs: {a: 'in ${region}'}\n"},
		"outputs below resources": {"resources:\n  pet: {type: 'random:RandomPet'}\n  outputs:\n    a: ${pet.id}\n",
			"outputs", "indent this under the program, as `resources` is", ""},
		"a map for a list of pairs": {"resources: {g: {type: 'plain:Tagged', properties: {tags: {team: web, size: 5}}}}\n",
			"{team: web, size: 5}",
			"write a list: `- {key: …, value: …}`",
			"resources: {g: {type: 'plain:Tagged', properties: {tags: [{key: team, value: web}, {key: size, value: 5}]}}}\n"},
		"a member one level up": {"resources: {g: {type: 'plain:Tagged', properties: {replicas: 3, spec: {}}}}\n", "replicas",
			"`replicas` is a member of `spec`: indent it there", ""},
		"an output as an input": {"resources: {g: {type: 'plain:Tagged', properties: {arn: x}}}\n", "arn",
			"it is an output, which the provider sets: remove it", ""},
		"a call without a prefix": {"resources: {p: {type: 'random:RandomPet', properties: {prefix: {join: ['-', [a, " +
			"b]]}}}}\n", "{join: ['-', [a, b]]}",
			"a call is written with its prefix: `fn::join`",
			"resources: {p: {type: 'random:RandomPet', properties: {prefix: {fn::join: ['-', [a, b]]}}}}\n"},
		"a type of Terraform": {"resources: {p: {type: random_password}}\n", "random_password",
			"`random:RandomPassword` or `random:Password`", ""},
		"a type of CloudFormation": {"resources: {p: {type: 'AWS::S3::Bucket'}}\n", "'AWS::S3::Bucket'",
			"here it is `aws-native:s3:Bucket`", ""},
		"a type of another language": {"resources: {p: {type: random.RandomPet}}\n", "random.RandomPet",
			"separated by colons: `random:RandomPet`",
			"resources: {p: {type: random:RandomPet}}\n"},
		"a resource that is called": {"outputs: {a: {fn::random:RandomPet: {}}}\n", "random:RandomPet",
			"it is the type of a resource", ""},
		"an option of Terraform": {"resources: {p: {type: 'random:RandomPet', options: {deleteBeforeCreate: true}}}\n",
			"deleteBeforeCreate",
			"did you mean `deleteBeforeReplace`?",
			"resources: {p: {type: 'random:RandomPet', options: {deleteBeforeReplace: true}}}\n"},
		"args for arguments": {"outputs: {a: {fn::invoke: {function: 'plain:get', args: {}}}}\n", "args",
			"did you mean `arguments`?", "outputs: {a: {fn::invoke: {function: 'plain:get', arguments: {}}}}\n"},
		"a provider as in other languages": {"resources: {p: {type: 'random:Provider'}}\n", "'random:Provider'",
			"a provider is written `pulumi:providers:random`", ""},
		"a component without its package": {"components: {Box: {outputs: {a: 1}}}\nresources: {p: {type: 'index:Box'}}\n",
			"'index:Box'", "did you mean `components:Box`?",
			"components: {Box: {outputs: {a: 1}}}\nresources: {p: {type: 'components:Box'}}\n"},
		"a component without any prefix": {"components: {Box: {outputs: {a: 1}}}\nresources: {p: {type: Box}}\n", "Box",
			"a component of the program is `components:Box`", ""},
		"a condition without braces": {"resources: {p: {type: 'random:RandomPet', if: 1 < 2}}\n", "1 < 2",
			"an expression is written in `${…}`: `${1 < 2}`", ""},
		"an option of Terraform at the resource": {pw + "  p: {type: 'random:RandomPet', depends_on: ['${pw}']}\n",
			"depends_on", "write `dependsOn` under `options`", ""},
		"a pseudo parameter": {"outputs: {a: '${AWS::Region}'}\n", "AWS::Region", "fn::aws:getRegion", ""},
		"a reference of CloudFormation": {"resources: {p: {type: 'random:RandomPet', properties: {prefix: {Ref: x}}}}\n",
			"{Ref: x}", "write `${name}` for a value", ""},
		"a method":                 {"variables: {l: A}\noutputs: {a: '${l.toLowerCase()}'}\n", "(", "write `lower(l)`", ""},
		"a pattern without quotes": {"outputs:\n  a:\n    - *.log\n", "*", "put the text in quotes", ""},
		"a missing member of an item": {"resources:\n  g:\n    type: plain:Tagged\n    properties:\n      tags:\n        - " +
			"{key: a, value: b}\n        - {value: c}\n",
			"{value: c}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := checkText(t, "Main.yaml", c.text, func(o *check.Options) { o.Schemas = wordsLoader() })
			var kept diag.Diagnostics
			for _, d := range found {
				if d.Severity <= diag.Warning {
					kept.Add(d)
				}
			}
			require.Len(t, kept, 1, "%v", kept)
			require.Equal(t, c.at, kept[0].Subject.Text())
			require.Contains(t, kept[0].Detail, c.detail)
			fixed, n := applied(c.text, kept)
			if c.fixed == "" {
				require.Zero(t, n, fixed)
				return
			}
			require.Equal(t, c.fixed, fixed)
		})
	}
}

// Each word of another tool, typed where it stands there, gives one finding with its translation. The functions in a
// translation exist.
func TestTranslations(t *testing.T) {
	t.Parallel()
	calls := regexp.MustCompile(`([A-Za-z]\w*)\(`)
	for place, words := range map[string]string{
		"variables: {x: a}\noutputs: {a: '${WORD(x)}'}\n": `templatestring strcontains transpose textdecodebase64
			textencodebase64 plantimestamp filesha1 filesha512 filebase64sha512 type issensitive ephemeralasnull timecmp
			toset tolist tomap file jsonencode base64encode templatefile sensitive nonsensitive one uuid basename bcrypt
			Ref Sub GetAtt ImportValue FindInMap Equals And Or Not Base64 Cidr GetAZs ToJsonString
			b64dec squote printf nindent trunc ternary hasKey dig get set empty randAlphaNum genCA semverCompare sha256sum
			include tpl default quote b64enc required success failure always cancelled hashFiles
			combine to_json from_yaml b64encode b64decode password_hash
			uniqueString resourceGroup subscription reference listKeys parameters variables newGuid guid utcNow dateTimeAdd
			environment deployment resourceId array object json base64ToString first last skip take padLeft toLower toUpper
			union intersection loadTextContent loadJsonContent copyIndex
			interpolate apply output getStack getProject jsonStringify
			encodeURIComponent btoa atob setTimeout isinstance getattr len str float dict sorted map filter
			base64gzip base64gunzip rsadecrypt encode_tfvars decode_tfvars encode_expr defaults convert
			ForEach Condition GetStackOutput case hasPrefix hasSuffix has omit unset pick pluck without cat
			nospace add add1 sub mul div mod divf addf subf mulf maxf minf biggest eq ne lt le gt ge deepEqual
			deepCopy mergeOverwrite regexMatch regexFind regexFindAll regexReplaceAll regexSplit splitList
			splitn sortAlpha uniq until untilStep seq rest initial prepend push tuple chunk atoi int64 float64
			toDecimal toStrings toPrettyJson toRawJson kindOf kindIs typeOf typeIs sha1sum sha512sum now ago
			date dateModify randAlpha randNumeric randAscii randBytes randInt shuffle uuidv4 htpasswd
			genPrivateKey genSelfSignedCert genSignedCert expandenv urlquery fail toToml base dir camelcase
			snakecase kebabcase`,
		"WORD: {a: {b: 1}}\n": `check removed chart dependencies permissions concurrency jobs handlers roles gather_facts hosts
			volumes networks secrets services targetScope moved import provider terraform Mappings Rules`,
		"resources:\n  p:\n    type: random:RandomPet\n    WORD: {a: b}\n": `steps uses run needs env notify register become
			image build ports restart healthcheck existing lifecycle provisioner connection source count CreationPolicy`,
		"config: {a: {type: string, WORD: x}}\n": `ephemeral AllowedPattern MinLength MaxLength MinValue MaxValue
			ConstraintDescription prompt private secure allowed validation pattern minimum enum required`,
		"resources:\n  p:\n    type: random:RandomPet\n    options: {WORD: x}\n": `DeletionPolicy ignore_errors retries existing
			scope lifecycle count prevent_destroy`,
	} {
		for _, word := range strings.Fields(words) {
			_, found := checkText(t, "Main.yaml", strings.ReplaceAll(place, "WORD", word), func(o *check.Options) {
				o.Schemas = wordsLoader()
			})
			var kept diag.Diagnostics
			for _, d := range found {
				if d.Severity <= diag.Warning {
					kept.Add(d)
				}
			}
			if assert.Len(t, kept, 1, "%s in %s: %v", word, place, kept) {
				assert.Contains(t, kept[0].Detail, "`"+word+"` is of ", place)
				for _, call := range calls.FindAllStringSubmatch(kept[0].Detail, -1) {
					_, known := builtins.Lookup(call[1])
					assert.True(t, known, "%s: there is no %s", word, call[1])
				}
			}
		}
	}
}
