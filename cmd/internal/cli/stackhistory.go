package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newStackHistory(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "Show what was done to the stack, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackHistory(cmd.Context(), o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// historyRecord is an operation in the JSON of `stack history` (F7.12).
type historyRecord struct {
	Kind            string                  `json:"kind"`
	StartTime       string                  `json:"startTime"`
	Message         string                  `json:"message"`
	Environment     map[string]string       `json:"environment"`
	Config          map[string]configRecord `json:"config"`
	Result          string                  `json:"result"`
	EndTime         string                  `json:"endTime"`
	ResourceChanges map[string]int          `json:"resourceChanges,omitempty"`
}

func (a *app) stackHistory(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	records, err := s.backend.History(ctx, s.ref, 0)
	if err != nil {
		return err
	}
	if o.json {
		list := make([]historyRecord, len(records))
		for i, r := range records {
			list[i] = historyRecord{Kind: r.Kind, Message: r.Message, Environment: r.Environment, Result: r.Result, ResourceChanges: r.ResourceChanges,
				StartTime: time.Unix(r.StartTime, 0).UTC().Format(timeFormat), EndTime: time.Unix(r.EndTime, 0).UTC().Format(timeFormat),
				Config: configOfHistory(r.Config)}
		}
		return a.writeJSON(list)
	}
	for _, r := range records {
		var changes []string
		for op, n := range r.ResourceChanges {
			changes = append(changes, fmt.Sprintf("%s %d", op, n))
		}
		slices.Sort(changes)
		fmt.Fprintf(a.streams.Out, "%s  %s %s  %s  %s\n", time.Unix(r.StartTime, 0).UTC().Format("2006-01-02 15:04:05"), r.Kind, r.Result,
			strings.Join(changes, ", "), r.Message)
	}
	return nil
}

// configOfHistory is the configuration of a record in the form of `config --json`, secrets hidden.
func configOfHistory(config map[string]json.RawMessage) map[string]configRecord {
	records := make(map[string]configRecord, len(config))
	for key, raw := range config {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			records[key] = configRecord{Value: &text}
			continue
		}
		secret := strings.Contains(string(raw), `"secure":`)
		record := configRecord{Secret: secret}
		if !secret {
			whole := string(raw)
			record.Value, record.ObjectValue = &whole, json.RawMessage(raw)
		}
		records[key] = record
	}
	return records
}
