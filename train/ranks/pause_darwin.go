package ranks

import "time"

// pause puts the goroutine to sleep.
func pause(d time.Duration) { time.Sleep(d) }
