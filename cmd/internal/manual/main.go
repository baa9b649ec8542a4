// Command manual generates documentation from the commands and the built-in providers: man pages for packages,
// docs/commands.md and docs/providers.md. It uses the same sources as the help and the checker, so that the pages
// cannot differ from these.
//
//	go run ./cmd/internal/manual -version 1.2.3 -time 1700000000 -man DIR
//	go run ./cmd/internal/manual -page docs/commands.md
//	go run ./cmd/internal/manual -providers docs/providers.md
//	go run ./cmd/internal/manual -schemas .    # docs/schemas and the table of docs/json.md
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
)

func main() {
	version := flag.String("version", "dev", "the version that man pages name")
	seconds := flag.Int64("time", 0, "their date, in seconds since 1970; the same gives the same bytes")
	man := flag.String("man", "", "write man pages to this folder, which must exist")
	page := flag.String("page", "", "write all commands to this file, in Markdown")
	providers := flag.String("providers", "", "write the inputs and outputs of the built-in providers to this file, "+
		"in Markdown")
	root := flag.String("schemas", "", "write the JSON schemas of what commands write into this folder of the repository")
	flag.Parse()
	var err error
	if *root != "" {
		err = writeSchemas(*root)
	} else {
		err = write(*version, time.Unix(*seconds, 0).UTC(), *man, *page, *providers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes the generated pages of the manual: man pages into the folder man, the command page to the file page, and
// the provider page to the file providers. An empty name skips that output.
func write(version string, date time.Time, man, page, providers string) error {
	root := cli.Commands()
	if man == "" && page == "" && providers == "" {
		return errors.New("choose what to write with -man, -page or -providers")
	}
	if providers != "" {
		var b bytes.Buffer
		if err := writeProviders(&b); err != nil {
			return err
		}
		if err := os.WriteFile(providers, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if page != "" {
		var b bytes.Buffer
		writePage(&b, root)
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if man == "" {
		return nil
	}
	return manPages(root, version, date, man)
}

// manPages writes a man page for each visible command.
func manPages(root *cobra.Command, version string, date time.Time, dir string) error {
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "yamlhost " + version, Manual: "yamlhost"}
	root.DisableAutoGenTag = true // the tag would contain the date of the build
	return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Header: header, Path: dir, CommandSeparator: "-"})
}
