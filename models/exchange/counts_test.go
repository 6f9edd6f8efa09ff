package exchange

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
)

// Every weight with a count has a line that names it as the layout of the model does, the largest differences first.
func TestWriteCounts(t *testing.T) {
	m := namedModel(t, 0, []string{"O", "B x"}, []string{"a", "b\tc", "d"}, nil)
	n := m.Net.Dim()
	c := &models.Counts{Observed: make([]float64, n), Expected: make([]float64, n)}
	type place struct {
		parameter string
		at        int
	}
	var places []place
	for _, a := range m.Net.Layout() {
		for at := range a.Len() {
			places = append(places, place{a.Name, at})
		}
	}
	for j := range n { // weight 0 has no counts, and the others lie ever further apart
		c.Observed[j], c.Expected[j] = float64(j), float64(3*j)
	}
	path := filepath.Join(t.TempDir(), "counts.tsv")
	if err := WriteCounts(m, c, path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != n || lines[0] != "observed\texpected\tdifference\tparameter\tnames" {
		t.Fatalf("%d lines for %d weights:\n%s", len(lines), n, text)
	}
	names := map[string]bool{}
	for k, line := range lines[1:] {
		j := n - 1 - k
		cells := strings.Split(line, "\t")
		if cells[0] != strconv.Itoa(j) || cells[1] != strconv.Itoa(3*j) || cells[2] != strconv.Itoa(-2*j) ||
			cells[3] != places[j].parameter {
			t.Errorf("%q is said of weight %d, %+v", line, j, places[j])
		}
		names[strings.Join(cells[3:], " ")] = true
		if cells[3] == "attributes" {
			label, attribute := []string{"O", "B x"}[places[j].at%2], []string{"a", `b\tc`, "d"}[places[j].at/2]
			if cells[4] != label || cells[5] != attribute {
				t.Errorf("%q, expected label %q and attribute %q", line, label, attribute)
			}
		}
	}
	if len(names) != n-1 {
		t.Errorf("%d names of %d weights: %v", len(names), n-1, names)
	}
	if err := WriteCounts(m, c, filepath.Join(path, "x")); err == nil {
		t.Error("written into a file as if it were a folder")
	}
}
