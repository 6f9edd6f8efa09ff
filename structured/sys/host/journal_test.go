package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	var lines []string
	keep := func(number int, line []byte) error {
		if number != len(lines)+1 {
			t.Errorf("line %d comes as %d", len(lines)+1, number)
		}
		lines = append(lines, string(line))
		return nil
	}
	open := func(want ...string) *Journal {
		t.Helper()
		lines = nil
		j, err := OpenJournal(path, keep)
		if err != nil || !slices.Equal(lines, want) {
			t.Fatalf("%q, %v, expected %q", lines, err, want)
		}
		return j
	}
	j := open()
	if err := errors.Join(j.Add(map[string]int{"a": 1}), j.Add("two"), j.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(text, `{"killed`...), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	j = open(`{"a":1}`, `"two"`) // without what was not finished
	if err := errors.Join(j.Add(3), j.Close()); err != nil {
		t.Fatal(err)
	}
	_ = open(`{"a":1}`, `"two"`, "3").Close()
	broken := errors.New("broken")
	if _, err := OpenJournal(path, func(int, []byte) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%q, %v", text, err)
	}
}
