// Command service runs a server for tests that keeps stacks and speaks the protocol of Pulumi Cloud. It is never
// shipped.
//
//	go run ./test/service --dir DIR --listen 127.0.0.1:0 --ready-file FILE
//
// writes {"url", "token"} to FILE when it answers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/yamlhost/yamlhost/test/service/host"
)

func main() {
	dir := flag.String("dir", "", "the folder that stacks are kept in")
	listen := flag.String("listen", "127.0.0.1:0", "the address to answer at")
	ready := flag.String("ready-file", "", "the file that gets the URL and the token once the server answers")
	delay := flag.Duration("delay", 0, "how much later than possible each call is answered")
	record := flag.String("record", "", "the file that gets each call with its answer, as a line of JSON")
	flag.Parse()
	if err := serve(*dir, *listen, *ready, *record, *delay); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(dir, listen, ready, record string, delay time.Duration) error {
	h, err := host.Open(dir)
	if err != nil {
		return err
	}
	h.Die = func() { os.Exit(137) }
	h.Set(host.Behaviour{Delay: delay})
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]string{"url": "http://" + l.Addr().String(), "token": h.Token()})
	if err != nil {
		return err
	}
	if ready != "" {
		// Written atomically, because another process waits for the file.
		if err := os.WriteFile(ready+".new", text, 0o600); err != nil {
			return err
		}
		if err := os.Rename(ready+".new", ready); err != nil {
			return err
		}
	} else {
		fmt.Println(string(text))
	}
	if record == "" {
		return http.Serve(l, h)
	}
	f, err := os.OpenFile(record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return http.Serve(l, host.Record(h, func(e host.Exchange) {
		text, err := json.Marshal(e)
		if err == nil {
			_, err = f.Write(append(text, '\n'))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}))
}
