package encoded

import (
	"os"
	"path/filepath"
	"testing"
)

// Without a terminal, lines say how far encoding is; nothing does where nothing is to be shown.
func TestProgressWithoutTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if p := newProgress(file, "data", 100); p.lines == nil || p.bar != nil {
		t.Error("a log gets no lines")
	}
	if p := newProgress(nil, "data", 100); p.lines != nil || p.bar != nil {
		t.Error("there is progress that nobody wants to see")
	}
}

func TestPiecesOf(t *testing.T) {
	if n := piecesOf([]sentence{{ids: make([]int32, 3)}, {}, {ids: make([]int32, 4)}}); n != 7 {
		t.Errorf("%d pieces, expected 7", n)
	}
}
