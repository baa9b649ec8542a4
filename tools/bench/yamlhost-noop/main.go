// Command yamlhost-noop is yamlhost with the provider noop built in, for measurements. YAMLHOST_NOOP_DELAY is the
// duration of each change, such as 5ms.
package main

import (
	"context"
	"os"
	"time"

	"github.com/yamlhost/yamlhost/cmd/custom"
	"github.com/yamlhost/yamlhost/tools/bench/noop"
)

func main() {
	delay, _ := time.ParseDuration(os.Getenv("YAMLHOST_NOOP_DELAY")) // none unless somebody measures that
	os.Exit(custom.Run(context.Background(), "0.1.0", noop.Loader{Delay: delay}))
}
