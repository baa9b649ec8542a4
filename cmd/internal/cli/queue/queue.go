package queue

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/queue"
)

// queueOptions are the flags of queue and its subcommands. Connections are opened by each command and closed before it
// returns.
type queueOptions struct {
	url       string
	json      bool
	most      int
	schedules bool
}

// NewQueue returns the command queue with its subcommands.
func NewQueue(a *console.Console) *cobra.Command {
	o := &queueOptions{}
	// The subcommands share o: only one of them runs in a process.
	list := &cobra.Command{Use: "ls [RUN]", Aliases: []string{"list"}, Short: "List jobs, or those of one run",
		Args: console.AtMostOne("the name of a run"), RunE: func(cmd *cobra.Command, args []string) error {
			return listJobs(cmd.Context(), a, o, args)
		}}
	list.Flags().IntVar(&o.most, "limit", 100, "how many of the latest jobs to list")
	console.AtLeast(list.Flags(), "limit", 1)
	list.Flags().BoolVar(&o.schedules, "schedules", false, "list schedules instead")
	show := &cobra.Command{Use: "show JOB", Short: "Show a job with its log", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return showJob(cmd.Context(), a, o, args[0]) }}
	for _, c := range []*cobra.Command{list, show} {
		c.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	}
	cancel := &cobra.Command{Use: "cancel JOB, RUN or SCHEDULE", Short: "Cancel a job, all jobs of a run, or a schedule",
		Args: cobra.ExactArgs(1),
		Long: "cancel ends jobs that are not over. A job that runs starts no further step and finishes, as after ^C.\n" +
			"A cancelled schedule submits nothing more; its jobs in the queue go on.",
		RunE: func(cmd *cobra.Command, args []string) error { return cancelJobs(cmd.Context(), a, o, args[0]) }}
	for _, c := range []*cobra.Command{list, show, cancel} {
		urlFlag(c, &o.url)
	}
	return console.Group("queue", "Show and cancel jobs in a queue", list, show, cancel)
}

// listJobs lists the latest jobs, or those of a run.
func listJobs(ctx context.Context, a *console.Console, o *queueOptions, args []string) error {
	q, err := open(ctx, o.url)
	if err != nil {
		return err
	}
	defer q.Close()
	if o.schedules {
		return listSchedules(ctx, a, o, q)
	}
	list, err := q.List(ctx, strings.Join(args, ""), o.most) // args has at most one element
	if err != nil {
		return err
	}
	// The list is written as [] if it is empty.
	return a.Show(o.json, append([]*queue.Entry{}, list...), func(table io.Writer) {
		fmt.Fprintln(table, "JOB\tSTATE\tCOMMAND\tSTACK\tPRIORITY\tRUN\tRESULT")
		for _, e := range list {
			result := ""
			if e.Result != nil {
				result = e.Result.Name
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%s\n", e.ID, e.State, e.Job.Command, e.Job.Key(), e.Priority,
				e.Job.Run, result)
		}
	})
}

// listSchedules lists the schedules that submit jobs.
func listSchedules(ctx context.Context, a *console.Console, o *queueOptions, q *queue.Queue) error {
	list, err := q.Schedules(ctx)
	if err != nil {
		return err
	}
	return a.Show(o.json, append([]*queue.Schedule{}, list...), func(table io.Writer) {
		fmt.Fprintln(table, "SCHEDULE\tEVERY\tNEXT\tJOBS")
		for _, s := range list {
			// Every is in seconds, as in the database and in JSON.
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", s.Name, time.Duration(s.Every)*time.Second,
				s.Next.UTC().Format(time.DateTime+" UTC"), len(s.Jobs))
		}
	})
}

// showJob shows a job with the end of its log.
func showJob(ctx context.Context, a *console.Console, o *queueOptions, name string) error {
	// Checked here and not by the database, whose error would be about types.
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return console.WithCode(console.CodeBadUsage, "queue show takes the number of a job, not %q", name)
	}
	q, err := open(ctx, o.url)
	if err != nil {
		return err
	}
	defer q.Close()
	e, err := q.Show(ctx, id)
	if err != nil {
		return err
	}
	if o.json {
		return a.WriteJSON(e)
	}
	out := a.Streams.Out
	fmt.Fprintf(out, "Job %d: %s of %s, %s\nRun %s, from %s, folder %s\n", e.ID, e.Job.Command, e.Job.Key(), e.State,
		e.Job.Run, e.Job.Source, e.Job.Path)
	if len(e.Needs) > 0 {
		fmt.Fprintf(out, "It waits for the jobs %v\n", e.Needs)
	}
	// One for each attempt that has ended without a result, after which the queue tries again.
	for _, text := range e.Errors {
		fmt.Fprintf(out, "  %s\n", text)
	}
	if !e.Next.IsZero() {
		fmt.Fprintf(out, "Next: %s\n", e.Again())
	}
	// A job that waits or runs has no result, and its log comes with the result.
	if e.Result != nil {
		fmt.Fprintf(out, "Ended with %d (%s) on %s\n\n%s", e.Result.Code, e.Result.Name, e.Result.Worker, e.Result.Log)
	}
	return nil
}

// cancelJobs cancels what a name stands for: a job, the jobs of a run, or a schedule.
func cancelJobs(ctx context.Context, a *console.Console, o *queueOptions, name string) error {
	q, err := open(ctx, o.url)
	if err != nil {
		return err
	}
	defer q.Close()
	ended, err := q.Cancel(ctx, name)
	if err != nil {
		return err
	}
	if ended.Schedule {
		fmt.Fprintf(a.Streams.Err, "The schedule %s has ended\n", name)
		return nil
	}
	fmt.Fprintf(a.Streams.Err, "Cancelled %s\n", diag.Count(ended.Jobs, "job"))
	return nil
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[[]*queue.Entry]("jobs", "the jobs of a queue", "`queue ls --json`"),
	contract.Of[queue.Entry]("job", "a job of a queue", "`queue show --json`"),
	contract.Of[[]*queue.Schedule]("schedules", "what submits jobs again and again", "`queue ls --schedules --json`"),
}
