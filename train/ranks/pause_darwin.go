package ranks

import (
	"runtime"
	"time"
)

// pause puts the goroutine to sleep.
func pause(d time.Duration) { time.Sleep(d) }

// yield lets another goroutine run.
func yield() { runtime.Gosched() }
