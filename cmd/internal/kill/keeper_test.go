//go:build linux

package kill

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/test/service/host"
)

// playKeeper runs a service with a short lease on a folder and an address. forget lists the capabilities that it lacks.
func playKeeper(dir, address string, forget ...string) int {
	h, err := host.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	h.Set(host.Behaviour{Lease: keeperLease, Forget: forget})
	l, err := net.Listen("tcp", address)
	if err == nil {
		err = http.Serve(l, h)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// keeperLease is the lease duration of a keeper.
const keeperLease = 3 * time.Second

// callMoments reports a moment before each HTTP call to a service and another after its response.
type callMoments struct{ m *moments }

// someID matches the generated ID of an update in a path.
var someID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (c callMoments) RoundTrip(q *http.Request) (*http.Response, error) {
	name := q.URL.Path[strings.LastIndex(q.URL.Path, "/")+1:]
	if someID.MatchString(name) {
		name = "start"
	}
	c.m.reach("host before call " + q.Method + " " + name)
	answer, err := http.DefaultTransport.RoundTrip(q)
	if err == nil {
		var text []byte
		text, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		answer.Body = io.NopCloser(strings.NewReader(string(text)))
	}
	c.m.reach("host after call " + q.Method + " " + name)
	return answer, err
}
