package filelock

import "github.com/yamlhost/yamlhost/internal/osfile"

func hold(dir string) (release func(), free bool) { return osfile.Hold("edit", dir) }
