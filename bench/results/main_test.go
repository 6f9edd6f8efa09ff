package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fake = `# Numbers

Before.

    printf 'text\n| a |\n|---|\n| 1 |\n\n'
    printf '| b |\n|---|\n| 2 |\n'

<!-- table -->
old, a day ago.

| a |
|---|
| 0 |
<!-- end -->

Between.

<!-- table -->
<!-- end -->

    printf '| c |\n|---|\n| 3 |'

<!-- table -->
<!-- end -->
After.
`

// The tables of a page become those that its commands print, and nothing else changes.
func TestTablesAreRewritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.md")
	if err := os.WriteFile(path, []byte(fake), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := update(path, "here, today."); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(fake, "old, a day ago.\n\n| a |\n|---|\n| 0 |\n", "here, today.\n\n| a |\n|---|\n| 1 |\n", 1)
	want = strings.Replace(want, "Between.\n\n<!-- table -->\n", "Between.\n\n<!-- table -->\nhere, today.\n\n| b |\n"+
		"|---|\n| 2 |\n", 1)
	want = strings.Replace(want, "<!-- table -->\n<!-- end -->\nAfter", "<!-- table -->\nhere, today.\n\n| c |\n|---|\n"+
		"| 3 |\n<!-- end -->\nAfter", 1)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A page stays as it is where a command fails, names a variable that is not set, or prints too few tables, and where
// there is nothing to write.
func TestFailuresLeaveThePage(t *testing.T) {
	for name, page := range map[string]string{
		"exit status 3":            "    exit 3\n\n<!-- table -->\n<!-- end -->\n",
		"exit status 1":            "    echo $DSP_NO_SUCH_FOLDER\n\n<!-- table -->\n<!-- end -->\n",
		"prints fewer tables":      "    echo '| a |'\n\n<!-- table -->\n<!-- end -->\n\n<!-- table -->\n<!-- end -->\n",
		"without a command":        "<!-- table -->\n<!-- end -->\n",
		"expected tables between":  "    echo\n",
		"expected tables between ": "    echo '| a |'\n\n<!-- table -->\n",
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := update(path, "here."); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%q: got %v, expected %s", page, err, name)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != page {
			t.Errorf("%q became %q (%v)", page, got, err)
		}
	}
}

// Every page of results has a command above each of its tables, and one machine and date with it.
func TestPagesHaveCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/results/*.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "README.md" {
			continue
		}
		outside := string(text)
		for _, block := range strings.Split(outside, begin)[1:] {
			inside, _, closed := strings.Cut(block, end)
			measured, table, _ := strings.Cut(strings.TrimSpace(inside), "\n")
			if !closed || !strings.Contains(measured, "cores, 20") || !strings.HasPrefix(strings.TrimSpace(table), "|") {
				t.Errorf("%s: %q: expected the machine, its cores and the date, and a table", path, measured)
			}
			outside = strings.Replace(outside, begin+inside+end, "", 1)
			tables++
		}
		if strings.Contains(outside, "\n| ") {
			t.Errorf("%s has a table that no command writes", path)
		}
		_, err = rewritten(string(text), "", func(string) (string, error) { return strings.Repeat("| a |\n\n", 100), nil })
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if tables == 0 {
		t.Error("there are no results")
	}
}
