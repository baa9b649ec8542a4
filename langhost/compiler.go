package langhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/diag"
)

// compilerOf is the option compiler of a project's runtime (L1.F); empty when there is none.
func compilerOf(info *pulumirpc.ProgramInfo) (string, error) {
	option, found := info.GetOptions().GetFields()["compiler"]
	if !found {
		return "", nil
	}
	if _, ok := option.GetKind().(*structpb.Value_StringValue); !ok {
		return "", errors.New("the runtime's option compiler must be a string: the command whose output is the program")
	}
	return option.GetStringValue(), nil
}

// compile runs the program's compiler; its standard output is the program (L1.F1). What it writes to standard error is
// passed on.
func (h *Host) compile(ctx context.Context, command, dir, root string, env environment) ([]byte, error) {
	words, err := splitWords(command)
	if err != nil {
		return nil, fmt.Errorf("the runtime's option compiler: %w", err)
	}
	if len(words) == 0 {
		return nil, errors.New("the runtime's option compiler is empty")
	}
	config := env.config
	if config == nil {
		config = map[string]string{}
	}
	configText, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("pass the configuration to the compiler: %w", err)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	for _, variable := range [...]struct{ name, value string }{
		{"PULUMI_STACK", env.stack}, {"PULUMI_ORGANIZATION", env.organization}, {"PULUMI_PROJECT", env.project},
		{"PULUMI_CONFIG", string(configText)}, {"PULUMI_ROOT_DIRECTORY", root},
	} {
		if h.hasVariable(variable.name) { // L1.F2
			h.engine.log(ctx, diag.Warning, "the environment sets "+variable.name+", which the compiler gets instead of the value of this run")
			continue
		}
		cmd.Env = append(cmd.Env, variable.name+"="+variable.value)
	}
	cmd.Env = append(cmd.Env, h.options.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	said := strings.TrimSpace(stderr.String())
	if err != nil {
		if said != "" {
			said = "\n" + said
		}
		return nil, fmt.Errorf("the compiler %s failed: %w%s", words[0], err, said)
	}
	if said != "" {
		h.engine.log(ctx, diag.Info, said) // L1.F6
	}
	return stdout.Bytes(), nil
}

func (h *Host) hasVariable(name string) bool {
	for _, entry := range h.options.Env {
		if strings.HasPrefix(entry, name+"=") {
			return true
		}
	}
	return false
}

// splitWords splits a command as a POSIX shell does, without expansion: quotes and backslashes keep what they hold.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\':
			if i+1 == len(command) {
				return nil, errors.New("it ends with a backslash")
			}
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(command[i])) {
				word.WriteByte('\\')
			}
			word.WriteByte(command[i])
			inWord = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
