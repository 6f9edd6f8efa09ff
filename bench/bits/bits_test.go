package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The committed table is read, and written as it was.
func TestTable(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	table, err := readTable("table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "table.tsv")
	if err := table.write(copied); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(copied); err != nil || string(again) != string(content) {
		t.Errorf("the table is written otherwise than it was read (%v)", err)
	}
	if of := strings.Fields(compiler()); len(of) != 2 || !strings.HasPrefix(of[0], "go1.") || of[1] == "" {
		t.Errorf("hashes are said to be those of compiler %q", of)
	}
	if len(table.rows) < 150 {
		t.Errorf("%d rows", len(table.rows))
	}
}

// Nothing is left in the temporary folder, whatever stops a run.
func TestScratchIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} { // of systems
		t.Setenv(variable, dir)
	}
	if err := run(t.Context(), []string{"-program", filepath.Join(dir, "none")}); err == nil {
		t.Error("there is no program, and no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// Every structure, home, loss, smoothing, net and course occurs in the table, and every method.
func TestTableHasAllChoices(t *testing.T) {
	t.Parallel()
	table, err := readTable("table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for f := range factors {
		for _, x := range values[f] {
			if !slices.ContainsFunc(table.rows, func(r *row) bool { return r.choices[f] == x }) {
				t.Errorf("no row with %s %s; -draw adds some", factorNames[f], x)
			}
		}
	}
}

func TestReadTableRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x\ny\n", compilerPrefix + "go1\nstructure\n"} {
		if _, err := readTable(write(t, []byte(text))); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The hash of a model is that of its numbers, whatever its header says.
func TestModelHash(t *testing.T) {
	t.Parallel()
	model := func(header, weights string) string {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		h, err := modelHash(write(t, append(append(b, header...), weights...)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if model("{}", "abc") != model(`{"version":"1"}`, "abc") {
		t.Error("the header changes the hash")
	}
	if model("{}", "abc") == model("{}", "abd") {
		t.Error("weights do not change the hash")
	}
	if _, err := modelHash(write(t, []byte("\xff\xff\xff\xff\xff\xff\xff\xffx"))); err == nil {
		t.Error("a header longer than the file was read")
	}
}

// The hash of metrics is that of all but the seconds, in any order.
func TestMetricsHash(t *testing.T) {
	t.Parallel()
	metrics := func(text string) string {
		h, err := metricsHash(write(t, []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one := metrics(`{"pass":1,"seconds":0.1,"objective":2.5}` + "\n")
	if one != metrics(`{"objective":2.5,"pass":1,"seconds":7}`+"\n") {
		t.Error("seconds or the order change the hash")
	}
	if one == metrics(`{"pass":1,"seconds":0.1,"objective":2.6}`+"\n") {
		t.Error("the objective does not change the hash")
	}
}
