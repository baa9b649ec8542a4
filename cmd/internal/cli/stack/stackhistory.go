package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newStackHistory returns the command stack history.
func newStackHistory(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Aliases: []string{"hist"}, Short: "Show what was done to the stack, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return stackHistory(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().IntVar(&o.page, "page", 1, "which page to show; with --page-size")
	cmd.Flags().IntVar(&o.pageSize, "page-size", 0, "how many operations a page has; by default everything is one page")
	console.AtLeast(cmd.Flags(), "page", 1)
	console.AtLeast(cmd.Flags(), "page-size", 0) // 0 is the Pulumi CLI's default, too
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "with --json: show secret configuration in plain text")
	cmd.Flags().StringVar(&o.why, "why", "", "show the operations that changed the resource of this name, and why")
	cmd.Flags().Bool("full-dates", true, "dates are always shown in full")
	console.Hide(cmd.Flags(), "full-dates")
	return cmd
}

// historyRecord is an operation in the JSON form of `stack history` (F7.12).
type historyRecord struct {
	Version         int                             `json:"version"` // 0: only Pulumi Cloud counts operations
	Kind            string                          `json:"kind"`
	StartTime       string                          `json:"startTime"`
	Message         string                          `json:"message"`
	Environment     map[string]string               `json:"environment"`
	Config          map[string]console.ConfigRecord `json:"config"`
	Result          string                          `json:"result"`
	Interrupted     bool                            `json:"interrupted,omitempty"` // and nothing else failed
	EndTime         string                          `json:"endTime,omitempty"`     // set after the end of the operation
	ResourceChanges map[string]int                  `json:"resourceChanges,omitempty"`
	Because         []change.Told                   `json:"because,omitempty"` // why resources have changed, of at most 200
}

// stackHistory shows the history. Records that cannot be read are an error at the end, after the others have been
// shown.
func stackHistory(ctx context.Context, a *console.Console, o *stackOptions) (failed error) {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	// Only files keep what this program adds to a record.
	if o.why != "" && backend.IsService(s.Backend.URL()) {
		return errors.New("the history of a service has no causes: it keeps states and events. `preview --why` and " +
			"`up --why` show them, and plans (`preview --save-plan`) and event logs (`--event-log`) keep them")
	}
	// 0 is all of them: a page is cut out below, after --why has chosen.
	records, err := s.Backend.History(ctx, s.Ref, 0)
	if err != nil && !errors.As(err, new(*backend.CorruptError)) {
		return err
	}
	defer func() { failed = errors.Join(failed, err) }() // the other records are shown
	if o.why != "" {
		// Before the pages, so that a page is full of what was asked for.
		records = slices.DeleteFunc(records, func(r backend.Record) bool { return len(changesOf(&r, o.why)) == 0 })
		if len(records) == 0 {
			return fmt.Errorf("no operation in the history has changed a resource of the name %q, or none has kept its "+
				"causes: older versions and other tools keep none", o.why)
		}
	}
	// A page behind the last one is empty and no error.
	if size := o.pageSize; size > 0 {
		from := len(records)
		if o.page-1 <= from/size { // otherwise the product could overflow
			from = min((o.page-1)*size, from)
		}
		records = records[from : from+min(size, len(records)-from)]
	}
	if o.json {
		var open project.Opener
		// Only now the key is needed: the table has no configuration.
		if o.showSecrets {
			settings, err := a.Stacks().Settings(s)
			if err != nil {
				return err
			}
			if open, err = a.Secrets().Of(s.Backend, s.Ref).Manager(settings, s.Ref.Stack); err != nil {
				return err
			}
		}
		list := make([]historyRecord, len(records))
		for i, r := range records {
			because := change.KeptOf(r.Own).Because
			if o.why != "" {
				because = changesOf(&r, o.why)
			}
			config, err := configOfHistory(r.Config, open)
			if err != nil {
				return console.ExplainSecret(err, s.Ref.Stack)
			}
			list[i] = historyRecord{Kind: r.Kind, Message: r.Message, Environment: r.Environment, Result: r.Result,
				Interrupted:     change.KeptOf(r.Own).Interrupted,
				ResourceChanges: r.ResourceChanges, Because: because,
				StartTime: time.Unix(r.StartTime, 0).UTC().Format(timeFormat), Config: config}
			// The record of an operation that goes on, or was killed, has no end.
			if r.EndTime > 0 {
				list[i].EndTime = time.Unix(r.EndTime, 0).UTC().Format(timeFormat)
			}
		}
		return a.WriteJSON(list)
	}
	terminal := a.Streams.OutTerminal
	for _, r := range records {
		words := view.DoneWords(r.ResourceChanges)
		if r.EndTime > r.StartTime {
			words += " in " + view.Seconds(time.Duration(r.EndTime-r.StartTime)*time.Second)
		}
		line := fmt.Sprintf("%s  %s %s  %s  %s", time.Unix(r.StartTime, 0).UTC().Format("2006-01-02 15:04:05"), r.Kind,
			change.KeptOf(r.Own).Ended(r.Result), words, r.Message)
		fmt.Fprintln(a.Streams.Out, a.Streams.Fold(strings.TrimRight(line, " "), terminal))
		for _, t := range changesOf(&r, o.why) {
			view.WriteTold(a.Streams.Out, &t, a.Streams.Width(terminal), a.Color(terminal))
		}
	}
	return nil
}

// changesOf returns why an operation has changed the resources of a name; none for no name.
func changesOf(r *backend.Record, name string) []change.Told {
	if name == "" {
		return nil
	}
	return slices.DeleteFunc(change.KeptOf(r.Own).Because, func(t change.Told) bool { return t.URN.Name() != name })
}

// configOfHistory converts the configuration of a history record to the form of `config --json`. Secrets are masked
// unless open is given.
func configOfHistory(config map[string]json.RawMessage, open project.Opener) (map[string]console.ConfigRecord, error) {
	records := make(map[string]console.ConfigRecord, len(config))
	for key, raw := range config {
		data, err := project.FromJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("the history's configuration %s: %w", key, err)
		}
		secret := project.HasSecure(data)
		// The record says that there is a secret, and has no value.
		if secret && open == nil {
			records[key] = console.ConfigRecord{Secret: true}
			continue
		}
		// open is set if there is a secret: other values have nothing to decrypt.
		opened, err := project.MapSecure(data, func(s project.Secure) (any, error) { return open.Decrypt(string(s)) })
		if err != nil {
			return nil, fmt.Errorf("decrypt config %s of the history: %w", key, err)
		}
		records[key] = console.RecordOf(opened, secret)
	}
	return records, nil
}
