package console

import (
	"time"
)

func (a *Console) Now() time.Time {
	if a.World.Now == nil {
		return time.Now()
	}
	return a.World.Now()
}
