package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// kernelNames are the kernels, each with the instructions of those before it.
var kernelNames = []string{"plain", "avx2", "avx512"}

// row is a run: a choice per factor, and the hashes of what it leaves, by kernel.
type row struct {
	choices [factors]string
	hashes  map[string]string
}

// name is what -only matches and reports print.
func (r *row) name() string { return strings.Join(r.choices[:], " ") }

// table is the file table.tsv: a line about the compiler, the names of the columns, and a row per line.
type table struct {
	compiler string
	rows     []*row
}

const compilerPrefix = "# hashes of "

func readTable(path string) (*table, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	columns := append(factorNames[:], kernelNames...)
	if len(lines) < 2 || !strings.HasPrefix(lines[0], compilerPrefix) || lines[1] != strings.Join(columns, "\t") {
		return nil, fmt.Errorf("%s: expected two lines of heading, as -draw writes them", path)
	}
	t := &table{compiler: strings.TrimPrefix(lines[0], compilerPrefix)}
	for k, line := range lines[2:] {
		cells := strings.Split(line, "\t")
		if len(cells) != len(columns) {
			return nil, fmt.Errorf("%s:%d: %d columns, expected %d", path, k+3, len(cells), len(columns))
		}
		r := &row{hashes: map[string]string{}}
		for f := range factors {
			if !slices.Contains(values[f], cells[f]) {
				return nil, fmt.Errorf("%s:%d: no %s %s", path, k+3, factorNames[f], cells[f])
			}
			r.choices[f] = cells[f]
		}
		for k, kernel := range kernelNames {
			if h := cells[int(factors)+k]; h != none {
				r.hashes[kernel] = h
			}
		}
		t.rows = append(t.rows, r)
	}
	return t, nil
}

// none stands in the table for hashes that no machine has made yet.
const none = "-"

func (t *table) write(path string) error {
	var to bytes.Buffer
	fmt.Fprintf(&to, "%s%s\n%s\n", compilerPrefix, t.compiler, strings.Join(append(factorNames[:], kernelNames...), "\t"))
	for _, r := range t.rows {
		cells := slices.Clone(r.choices[:])
		for _, kernel := range kernelNames {
			h := r.hashes[kernel]
			if h == "" {
				h = none
			}
			cells = append(cells, h)
		}
		fmt.Fprintln(&to, strings.Join(cells, "\t"))
	}
	return os.WriteFile(path, to.Bytes(), 0o666)
}
