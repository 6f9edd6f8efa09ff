package host

import (
	"fmt"
	"testing"
	"time"
)

// What is done and what is left is said every ten seconds, and not when all is done.
func TestProgress(t *testing.T) {
	said := ""
	p := NewProgress(100, func(done int, rest time.Duration) { said += fmt.Sprintln(done, rest) })
	clock := p.begun
	p.now = func() time.Time { return clock }
	for range 10 { // four seconds each
		clock = clock.Add(4 * time.Second)
		p.Add(10)
	}
	if want := "30 28s\n60 16s\n90 4s\n"; said != want {
		t.Errorf("said\n%swant\n%s", said, want)
	}
	clock = clock.Add(time.Hour)
	if p.Add(0); said != "30 28s\n60 16s\n90 4s\n" {
		t.Errorf("said after the end\n%s", said)
	}
}
