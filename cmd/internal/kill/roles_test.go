//go:build linux

package kill

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/backend/objectstest"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// The test binary is also yamlhost, the plugin and the service. The plugin is chosen by its file name.
const (
	pluginName = "pulumi-resource-drawer"
	roleKey    = "KILL_ROLE" // host: yamlhost; keeper: a service that stores stacks
	pointKey   = "KILL_AT"   // the moment to die at: its name, a colon and the number of occurrences to skip
	seenKey    = "KILL_SEEN" // a file for the names of the moments that pass
	beganKey   = "KILL_BEGAN"
	readyKey   = "KILL_READY" // a file for the time until the first access to the journal, in nanoseconds
	delayKey   = "KILL_DELAY" // the longest time of a change, in milliseconds
	drawerKey  = "DRAWER"     // the plugin's folder
	// the action at the moment: crash or freeze the plugin, stop yamlhost, harm its folders (see harms), or kill all (the
	// default)
	doKey      = "KILL_DO"
	machineKey = "KILL_MACHINE" // the machine name that yamlhost uses
	leaseKey   = "KILL_LEASE"   // the duration of a lease
	panicKey   = "KILL_PANIC"   // the call at which the embedded provider panics
	garbageKey = "KILL_GARBAGE" // the answer that the plugin garbles: a call and a kind, such as "Create bytes"
	failKey    = "KILL_FAIL"    // file operations that fail, such as "write state", separated by commas
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == supervise.Word: // its environment may lack the role
		os.Exit(supervise.Main(os.Args[2:], os.Environ()))
	case filepath.Base(os.Args[0]) == pluginName:
		os.Exit(playPlugin())
	case os.Getenv(roleKey) == "host":
		os.Exit(playHost())
	case os.Getenv(roleKey) == "keeper":
		os.Exit(playKeeper(os.Args[1], os.Args[2], os.Args[3:]...))
	}
	flag.Parse()
	if signal.Ignored(syscall.SIGHUP) { // under nohup; the processes that the tests start must not inherit that
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

// moments counts the named moments of a process and calls die at one of them.
type moments struct {
	mu    sync.Mutex
	point string
	left  int
	seen  *os.File
	die   func()
}

func newMoments(prefix string, die func()) *moments {
	m := &moments{die: die}
	if name, n, found := strings.Cut(os.Getenv(pointKey), ":"); found && strings.HasPrefix(name, prefix) {
		m.point = name
		m.left, _ = strconv.Atoi(n)
	}
	if path := os.Getenv(seenKey); path != "" {
		m.seen, _ = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	return m
}

func (m *moments) reach(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen != nil {
		fmt.Fprintln(m.seen, name)
	}
	if name != m.point {
		return
	}
	if m.left--; m.left < 0 {
		m.die()
		if do := os.Getenv(doKey); do == "stop" || slices.Contains(harms, do) { // goes on, after SIGCONT if it was stopped
			m.point = ""
			return
		}
		select {} // until the signal arrives
	}
}

func playPlugin() int {
	longest, _ := strconv.Atoi(os.Getenv(delayKey))
	m := newMoments("plugin ", func() {
		switch os.Getenv(doKey) {
		case "crash":
			fmt.Fprintln(os.Stderr, "the drawer is on fire")
			os.Exit(3)
		case "stop":
			_ = syscall.Kill(os.Getppid(), syscall.SIGSTOP)
		case "freeze":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		default:
			_ = syscall.Kill(-os.Getppid(), syscall.SIGKILL)
		}
	})
	p := &drawer.Provider{Dir: os.Getenv(drawerKey),
		Delay:   func() time.Duration { return time.Duration(rand.IntN(longest*1000+1)) * time.Microsecond },
		Reached: func(moment, _ string) { m.reach("plugin " + moment) }}
	if garbage := os.Getenv(garbageKey); garbage != "" {
		return playGarbage(p, garbage)
	}
	if err := plugin.ServeMain(context.Background(), p, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		return 1
	}
	return 0
}

func playHost() int {
	var suffered harm
	m := newMoments("host ", func() {
		switch do := os.Getenv(doKey); {
		case do == "stop":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case slices.Contains(harms, do):
			suffered.begin(do)
		default:
			_ = syscall.Kill(0, syscall.SIGKILL)
		}
	})
	var once sync.Once
	streams, world := cli.System("test")
	world.Patience = 200 * time.Millisecond
	if name := os.Getenv(machineKey); name != "" {
		world.Process = func() backend.Process {
			p := backend.ThisProcess()
			p.Machine, p.Host = name, name
			return p
		}
	}
	world.Lease, _ = time.ParseDuration(os.Getenv(leaseKey))
	fails := strings.Split(os.Getenv(failKey), ",")
	fault := func(do, path string, done bool) error {
		kind := fileKind(path)
		if !done && slices.Contains(fails, do+" "+kind) {
			return syscall.ENOSPC
		}
		if err := suffered.fault(do); err != nil && !done {
			return err
		}
		if kind == "journal" || kind == "lock" && do == "remove" {
			once.Do(reportReady)
		}
		when := "before"
		if done {
			when = "after"
		}
		m.reach("host " + when + " " + do + " " + kind)
		return nil
	}
	world.Disk = disktest.Faulty(disk.Real{}, fault)
	if strings.Contains(os.Getenv("PULUMI_BACKEND_URL"), "http://") {
		world.HTTP = &http.Client{Transport: callMoments{m}}
	}
	world.Objects = func(o backend.Objects) backend.Objects { return objectstest.Faulty(o, fault) }
	if place := os.Getenv(panicKey); place != "" {
		world.Embedded = []cli.EmbeddedProviders{panickingRoom{panicking{&drawer.Provider{Dir: os.Getenv(drawerKey)}, place}}}
	}
	return cli.Run(context.Background(), os.Args[1:], streams, world)
}

func reportReady() {
	began, _ := strconv.ParseInt(os.Getenv(beganKey), 10, 64)
	if path := os.Getenv(readyKey); path != "" {
		_ = os.WriteFile(path, []byte(strconv.FormatInt(time.Now().UnixNano()-began, 10)), 0o600)
	}
}

// fileKind returns the kind of a file of the backend.
func fileKind(path string) string {
	switch slash := filepath.ToSlash(path); {
	case strings.HasSuffix(slash, "/lease.json"):
		return "lease"
	case strings.Contains(slash, "/clock"):
		return "clock"
	case strings.HasSuffix(slash, ".yamlhost-update"):
		return "update"
	case strings.Contains(slash, "/yamlhost/") && !strings.Contains(slash, "/services/"):
		return "journal"
	case strings.Contains(slash, "-journal"):
		return "journal"
	case strings.Contains(slash, "/locks") || strings.Contains(slash, "/lock."):
		return "lock"
	case strings.Contains(slash, "/history"):
		return "history"
	case strings.Contains(slash, "/backups"):
		return "backup"
	case strings.HasSuffix(slash, ".bak") || strings.Contains(slash, ".bak."):
		return "bak"
	case strings.Contains(slash, "/stacks"):
		return "state"
	}
	return "folder"
}
