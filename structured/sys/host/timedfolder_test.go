package host

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Callers of the same second get folders of their own.
func TestTimedFolder(t *testing.T) {
	in, now := filepath.Join(t.TempDir(), "runs"), time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC)
	const callers = 20
	var all sync.WaitGroup
	paths := make([]string, callers)
	for k := range paths {
		all.Go(func() {
			var err error
			if paths[k], err = TimedFolder(in, "tag", now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, path := range paths {
		if !strings.HasPrefix(path, filepath.Join(in, "tag-20250102-030405")) || seen[path] {
			t.Errorf("%s: not a folder of its own named after the time", path)
		}
		seen[path] = true
	}
	if err := os.WriteFile(filepath.Join(in, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := TimedFolder(filepath.Join(in, "file"), "tag", now); err == nil {
		t.Error("a folder inside of a file")
	}
}
