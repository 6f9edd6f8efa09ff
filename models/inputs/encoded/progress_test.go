package encoded

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Without a terminal, what is encoded is said every ten seconds, with what is left; nothing is where nothing is to be shown.
func TestProgressWithoutTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newProgress(nil, "data", 100).say != nil || newProgress(file, "data", 100).say == nil {
		t.Error("a log shows nothing, or what nobody wants to see is said")
	}
	p := newProgress(file, "data", 100)
	clock, said := p.begun, ""
	p.now = func() time.Time { return clock }
	p.say = func(message string, about ...any) { said += fmt.Sprintln(append([]any{message}, about...)...) }
	for range 10 { // four seconds each
		clock = clock.Add(4 * time.Second)
		p.add(10)
	}
	const want = "encoding data data pieces 30 of 100 rest 28 s\nencoding data data pieces 60 of 100 rest 16 s\nencoding data data pieces 90 of 100 rest 4 s\n"
	if said != want {
		t.Errorf("said\n%swant\n%s", said, want)
	}
}
