package endtoend

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Only folders of the tests go that are older than a day.
func TestRemoveLeftovers(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	for name, c := range map[string]struct {
		hours int
		stays bool
	}{
		"dsp-test1": {25, false}, "dsp-test2": {23, true}, "dsp-test3": {0, true}, "dsp-runs": {99, true}, "other": {99, true},
	} {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(folder, "tagger"), 0o777); err != nil {
			t.Fatal(err)
		}
		then := now.Add(-time.Duration(c.hours) * time.Hour)
		if err := os.Chtimes(folder, then, then); err != nil {
			t.Fatal(err)
		}
		if err := removeLeftovers(dir, now); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(folder); (err == nil) != c.stays {
			t.Errorf("%s, %d hours old: stays %v, expected %v", name, c.hours, err == nil, c.stays)
		}
	}
	file := filepath.Join(dir, "dsp-test.txt")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := removeLeftovers(dir, now.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a file is gone: %v", err)
	}
}
