package console

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Hide omits a flag from the help.
func Hide(flags *pflag.FlagSet, name string) {
	if f := flags.Lookup(name); f != nil {
		f.Hidden = true
	}
}

// IgnoredFlags adds hidden boolean flags that have no effect. A shorthand follows the name of a flag after a comma.
func IgnoredFlags(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		name, shorthand, _ := strings.Cut(name, ",")
		flags.BoolP(name, shorthand, false, "accepted for compatibility, without effect")
		Hide(flags, name)
	}
}

// Range bounds the values of a flag, a number or a duration, on both sides. The library refuses others when it reads
// the command line: before a question, and before anything is done.
func Range(flags *pflag.FlagSet, name string, least, most int64) {
	f := flags.Lookup(name)
	if f.DefValue == "0s" {
		f.DefValue = "0" // of values of a kind that it does not know, the library's help leaves out only this one
	}
	f.Value = &ranged{f.Value, least, most}
}

// AtLeast is Range without an upper bound.
func AtLeast(flags *pflag.FlagSet, name string, least int64) {
	Range(flags, name, least, math.MaxInt64)
}

// ranged is a value of a flag with bounds. Those of a duration are in nanoseconds.
type ranged struct {
	pflag.Value
	least, most int64
}

func (r *ranged) Set(text string) error {
	if err := r.Value.Set(text); err != nil {
		return err
	}
	number, err := strconv.ParseInt(r.String(), 10, 64)
	if d, notDuration := time.ParseDuration(r.String()); err != nil && notDuration == nil {
		number, err = int64(d), nil
	}
	if err == nil && (number < r.least || number > r.most) {
		err = errors.New("out of range")
	}
	return err
}

// takes describes the values of a number's flag.
func (r *ranged) takes() string {
	text := fmt.Sprintf("a whole number from %d", r.least)
	if r.most != math.MaxInt64 {
		text += fmt.Sprintf(" to %d", r.most)
	}
	return text
}

// FlagsFromEnvironment sets every flag that is not given on the command line from its variable PULUMI_OPTION_<FLAG>
// (F7.15).
func FlagsFromEnvironment(flags *pflag.FlagSet, w *World) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		name := "PULUMI_OPTION_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		text, found := w.Lookup(name)
		if !found {
			return
		}
		values := []string{text}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(text, ",")
		}
		for _, v := range values {
			if err := flags.Set(f.Name, v); err != nil {
				failed = WithCode(CodeBadUsage, "%s: --%s takes %s, not %q", name, f.Name, takes(f), v)
				return
			}
		}
	})
	return failed
}

// destructiveCommands are never suggested for a misspelt word: a user who meant another command would lose something.
var destructiveCommands = []string{"destroy", "down", "dn", "cancel", "rm", "remove", "delete", "rm-all", "remove-all",
	"delete-all", "logout"}

// FlagError rewrites an error of the flag library in plain words. The returned error has exit code CodeBadUsage.
func FlagError(cmd *cobra.Command, err error) error {
	return &ExitError{Code: CodeBadUsage, Cause: flagError(cmd, err)}
}

func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var lacking *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s takes %s, not %q", invalid.GetFlag().Name, takes(invalid.GetFlag()), invalid.GetValue())
	case errors.As(err, &lacking):
		return fmt.Errorf("--%s lacks its value: it takes %s", lacking.GetFlag().Name, takes(lacking.GetFlag()))
	case !errors.As(err, &unknown):
		return err
	}
	name := unknown.GetSpecifiedName()
	if text, absent := absentFlag(cmd, name); absent {
		return errors.New(text)
	}
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		if cmd.Flags().Lookup(short) != nil { // other tools have one dash before a long name
			return fmt.Errorf("%s has no flag -%s; did you mean --%s?\nSee %[1]s --help.", cmd.CommandPath(), name, short)
		}
		if strings.ContainsAny(short[:1], "0123456789.") {
			return fmt.Errorf("%s takes -%s for a flag; a value that begins with - is written after --: `-- -%[2]s`",
				cmd.CommandPath(), short)
		}
		return fmt.Errorf("%s has no flag -%s\nSee %s --help.", cmd.CommandPath(), name, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	text := fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), name)
	if near := diag.Suggest(name, names); len(near) > 0 {
		text += fmt.Sprintf("; did you mean --%s?", near[0])
	}
	return fmt.Errorf("%s\nSee %s --help.", text, cmd.CommandPath())
}

// takes describes the values that a flag accepts.
func takes(f *pflag.Flag) string {
	r, bounded := f.Value.(*ranged)
	switch kind := f.Value.Type(); {
	case bounded && kind != "duration":
		return r.takes()
	case bounded && r.least > 0:
		return "a duration from " + time.Duration(r.least).String() + ", such as 90s, 15m or 2h"
	}
	switch f.Value.Type() {
	case "int", "int64", "count":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number from 0"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 90s, 15m or 2h"
	case "stringArray", "stringSlice", "string":
		return "a text"
	}
	return "a " + f.Value.Type()
}

// UsageErrors makes argument errors of cmd and its subcommands exit with CodeBadUsage.
func UsageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || errors.As(err, new(*ExitError)) {
				return err
			}
			return &ExitError{Code: CodeBadUsage, Cause: argumentError(cmd, args, err)}
		}
	}
	for _, sub := range cmd.Commands() {
		UsageErrors(sub)
	}
}

// argumentError rewrites err, the library's error about the number of arguments, in plain words.
func argumentError(cmd *cobra.Command, args []string, err error) error {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	wanted := regexp.MustCompile(`^(accepts|requires) .*arg\(s\), (received|only received) (\d+)$`)
	switch {
	case strings.HasPrefix(err.Error(), "unknown command ") && len(args) > 0 && cmd.HasSubCommands():
		return fmt.Errorf("there is no command %q\nSee %s --help.", strings.TrimPrefix(cmd.CommandPath()+" "+args[0],
			cmd.Root().Name()+" "), cmd.CommandPath())
	case strings.HasPrefix(err.Error(), "unknown command ") && len(args) > 0:
		return NoArguments(cmd, args)
	case !wanted.MatchString(err.Error()):
		return err
	case len(args) > 0 && !strings.Contains(err.Error(), "at least"):
		return fmt.Errorf("%s takes %s and nothing more\nUsage: %s", cmd.CommandPath(), takes, cmd.UseLine())
	}
	return fmt.Errorf("%s lacks %s\nUsage: %s", cmd.CommandPath(), takes, cmd.UseLine())
}

// FlagsSet returns the flags given on the command line in the form that the history stores (F6.12): boolean flags with
// their value, other flags only with the word "set".
func FlagsSet(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		set[f.Name] = "set"
		if f.Value.Type() == "bool" {
			set[f.Name] = f.Value.String()
		}
	})
	return set
}

// NoArguments is a cobra argument check that accepts no arguments and has a clearer message than cobra's own.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but there is %q\nSee %s --help.", cmd.CommandPath(), args[0],
			cmd.CommandPath())
	}
	return nil
}

// AtMostOne returns a cobra argument check that accepts at most one argument, described by what for the error message.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes %s and nothing more, but there is %q\nSee %s --help.", cmd.CommandPath(), what, args[1],
				cmd.CommandPath())
		}
		return nil
	}
}
