package pcl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/langhost/pcl"
)

// commented is a program with comments in all positions that PCL supports, and with texts that look like comments.
const commented = `# The program
# as a whole.

name: commented
runtime: yaml
# Configuration
config:
  # who it is for
  who:
    # a word
    type: string # of letters
    description: who
    default: you # and me
  'size': {type: integer} # how much
components:
  # Two in one
  Pair:
    description: |
      Two things
      together
    inputs:
      # of both
      size: {type: integer}
    resources: # parts

      # the only one
      one:
        type: a:B
        properties: {size: "${size}"} # as it comes
variables:
  # where
  path: a#b # not c
  script: |
    begin
    # this is text
    end # too
resources: # things
  # the first
  #
  # of them
  first:
    # made by hand
    type: a:B # of two
    # what it has
    properties:
      # a text
      text: "no # comment" # but this
      items: # of them:
        # one
        - 1
        - x # two
        - {deep: 3} # three
      last: ' # text'
    options:
      # never lose it
      protect: true # ever
      # later
      dependsOn: ["${second}"]
  second: {type: a:B, properties: {a: 'b # c', d: "#"}}
  third:
    type: a:B
    get:
      # known
      id: i-1
  # use
  pair: {type: "components:Pair", properties: {size: 1}}
outputs:
  # to see
  o: ${first.text} # there
`

// Comments survive the conversion from YAML to PCL and back.
func TestComments(t *testing.T) {
	t.Parallel()
	module, diags := convert(t, commented, pcl.Options{})
	require.False(t, diags.HasErrors(), diags)
	require.Equal(t, `# The program
# as a whole.

# Configuration
# who it is for
# a word
# of letters
# and me
config "who" "string" {
  description = "who"
  default = "you"
}

# how much
config "size" "int" {
}

# where
# not c
path = "a#b"

script = "begin\n# this is text\nend # too\n"

# things
# the first
#
# of them
# made by hand
# of two
resource "first" "a:B" {
  # what it has
  # a text
  # but this
  text = "no # comment"
  # of them:
  # one
  # two
  # three
  items = [1, "x", {"deep" = 3}]
  last = " # text"
  options {
    # never lose it
    # ever
    protect = true
    # later
    dependsOn = [second]
  }
}

resource "second" "a:B" {
  a = "b # c"
  d = "#"
}

read "third" "a:B" {
  # known
  id = "i-1"
}

# use
component "pair" "./Pair" {
  size = 1
}

# to see
# there
output "o" {
  value = first.text
}
`, module.Files["main.pp"])
	require.Equal(t, `# Two in one
# Two things
# together

# of both
config "size" "int" {
}

# parts
# the only one
resource "one" "a:B" {
  # as it comes
  size = size
}
`, module.Files["Pair/main.pp"])

	back, diags := pcl.Generate(t.Context(), pcl.Sources{"main.pp": []byte(module.Files["main.pp"])}, pcl.Options{
		Component: func(folder string) (pcl.Sources, error) {
			return pcl.Sources{"main.pp": []byte(module.Files[folder+"/main.pp"])}, nil
		},
	})
	require.False(t, diags.HasErrors(), diags)
	require.True(t, strings.HasPrefix(back.Text, "# The program\n# as a whole.\n\nconfiguration:\n"), back.Text)
	again, diags := convert(t, back.Text, pcl.Options{})
	require.False(t, diags.HasErrors(), diags)
	require.Equal(t, module.Files["main.pp"], again.Files["main.pp"])
	require.Equal(t, module.Files["Pair/main.pp"], again.Files["Pair/main.pp"])
}
