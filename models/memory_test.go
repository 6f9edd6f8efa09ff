package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// A file larger than any memory is refused before it is read. (The file is sparse.)
func TestTooLargeForMemory(t *testing.T) {
	if _, known := host.AvailableMemory(); !known {
		t.Skip("nobody knows here how much memory there is")
	}
	path := filepath.Join(t.TempDir(), "large.conll")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Repeat(trainConll+"\n", beginningBytes/len(trainConll)+1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 42); err != nil {
		t.Skip("no files with holes here")
	}
	f.Close()
	c := textConfig(path)
	if _, err := ReadData(&c); err == nil || structured.IsBadInput(err) || !strings.Contains(err.Error(), "of memory") || !strings.Contains(err.Error(), "--min-count") {
		t.Errorf("got %v", err)
	}
}
