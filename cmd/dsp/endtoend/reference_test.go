package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// section returns what a page of docs/reference says under a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), heading+"\n")
	if !ok {
		t.Fatalf("%s has no heading %q", page, heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	rest, _, _ = strings.Cut(rest, "\n"+level+" ")
	return rest
}

// named returns the first cell of each row of a table, without its marks.
func named(table string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1) {
		all[m[1]] = true
	}
	return all
}

// Everything that a run leaves in its folder is in the reference.
func TestReferenceHasTheFilesOfRuns(t *testing.T) {
	described := named(section(t, "run-folder.md", "# The folder of a run"))
	found := map[string]bool{}
	see := func(folder string) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := e.Name()
			switch {
			case strings.HasPrefix(name, "events.out.tfevents."):
				name = "events.out.tfevents.*"
			case e.IsDir():
				name += "/"
			}
			if found[name] = true; !described[name] {
				t.Errorf("a run leaves %s, which run-folder.md does not describe", name)
			}
		}
	}
	see(reader(t))
	see(tagger(t))
	drawn := filepath.Join(t.TempDir(), "run")
	dspIn(t, []string{"DSP_CURVES=on"}, with(small, "--baselines", "on", "--passes", "1", "--out", drawn)...).ok()
	see(drawn)
	path := filepath.Join(t.TempDir(), "path")
	dsp(t, "train", "--examples", "20,5,5", "--net", "linear", "--path", "--path-low", "0.5", "--path-high", "1", "--path-error", "0.5", "--baselines", "off",
		"--quiet", "--out", path).ok()
	see(path)
	for _, name := range []string{"curves.png", "curves.svg", "sgd/", "independent/", "path.json", "path/", "checkpoint/", "last.safetensors"} {
		if !found[name] {
			t.Errorf("no run left %s, of which run-folder.md speaks; it left %v", name, found)
		}
	}
}

// The members of what verbs print with --json are in the reference.
func TestReferenceHasTheMembersOfJSON(t *testing.T) {
	model := tagger(t)
	data := write(t, "test.conll", strings.ReplaceAll(sentences, "the\tO", "the\tB-X"))
	calibrated := filepath.Join(t.TempDir(), "calibrated.safetensors")
	for _, c := range []struct {
		page, heading string
		args          []string
	}{
		{"json.md", "## train", with(small, "--passes", "1", "--json", "--out", filepath.Join(t.TempDir(), "run"))},
		{"json.md", "## predict", []string{"predict", "--model", model, "--input", data, "--json", "--nbest", "2", "--confidence", "--spans", "--entropy"}},
		{"metrics.md", "### Labels: tag, ocr", []string{"eval", "--model", model, "--data", data, "--json"}},
		{"json.md", "## eval --errors", []string{"eval", "--model", model, "--data", data, "--json", "--errors", "2"}},
		{"json.md", "## calibrate", []string{"calibrate", "--model", model, "--dev", data, "--json", "--out", calibrated}},
		{"json.md", "## info", []string{"info", "--json"}},
		{"json.md", "## info MODEL", []string{"info", model, "--json"}},
		{"json.md", "## report", []string{"report", "--model", model, "--data", data, "--json", "--out", filepath.Join(t.TempDir(), "r.html")}},
	} {
		described := named(section(t, c.page, c.heading))
		for name := range named(section(t, "json.md", "## eval")) {
			described[name] = described[name] || c.page == "metrics.md"
		}
		out := strings.TrimSpace(dsp(t, c.args...).ok().stdout)
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(out[strings.LastIndexByte(out, '\n')+1:]), &object); err != nil {
			t.Fatalf("%v: %v", c.args, err)
		}
		var errors []map[string]json.RawMessage
		if c.heading == "## eval --errors" {
			if err := json.Unmarshal(object["errors"], &errors); err != nil || len(errors) == 0 {
				t.Fatalf("%v: %d errors, %v", c.args, len(errors), err)
			}
			object = errors[0]
		}
		for name := range object {
			if !described[name] {
				t.Errorf("dsp %s prints the member %s, which %s does not describe under %q", strings.Join(c.args[:1], " "), name, c.page, c.heading)
			}
		}
	}
}
