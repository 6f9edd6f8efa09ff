package formats

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Formats are found by their names, and settings and fields are those of formats that have them.
func TestFormatsByName(t *testing.T) {
	for _, f := range All() {
		if got := Find(f.Name); got.Name != f.Name {
			t.Errorf("%s is found as %q", f.Name, got.Name)
		}
	}
	if Find("x").Name != "" || Find(Builtin).Tasks[0] != "ocr" || Treebank() != "conllu" {
		t.Errorf("%q, %q, %q", Find("x").Name, Find(Builtin).Tasks, Treebank())
	}
	if got := strings.Join(TakersOf("columns"), " "); got != "conll" {
		t.Errorf("columns is for %s", got)
	}
	if got := TakersOf("difficulty"); !slices.Equal(got, []string{Builtin}) {
		t.Errorf("difficulty is for %q", got)
	}
	for _, c := range []struct {
		columns, field string
		trees          bool
		want           [2]string
	}{{"", "", false, [2]string{"", "upos"}}, {"", "xpos", false, [2]string{"", "xpos"}},
		{"", "", true, [2]string{"", ""}}, {"a", "b", true, [2]string{"a", "b"}}} {
		if columns, field := Find("conllu").Fields(c.columns, c.field, c.trees); [2]string{columns, field} != c.want {
			t.Errorf("%+v: columns %q, field %q", c, columns, field)
		}
	}
	if (Options{OwnLabels: true, Labels: structured.NewAlphabet()}).Numbering() != nil ||
		(Options{Labels: structured.NewAlphabet()}).Numbering() == nil {
		t.Error("labels of a file's own are numbered by others")
	}
}

// A format that lacks something is refused with what that is, and the first error stays.
func TestRegistration(t *testing.T) {
	t.Cleanup(func(all []Format) func() { return func() { registry.Put(all) } }(All()))
	read := func(io.Reader, string, Options) (*structured.Dataset, error) { return nil, nil }
	good := Format{Name: "mine", Holds: "x", Tasks: []string{"tag"}, Read: read, Starts: func([]byte) bool {
		return false
	}}
	for want, change := range map[string]func(f *Format){
		`own format "": expected a name without spaces, commas, = and |`:  func(f *Format) { f.Name = "" },
		`own format "conll": another one has this name`:                   func(f *Format) { f.Name = "conll" },
		`own format "builtin": another one has this name`:                 func(f *Format) { f.Name = Builtin },
		`own format "mine": it does not say what its files hold`:          func(f *Format) { f.Holds = "" },
		`own format "mine": it has no tasks`:                              func(f *Format) { f.Tasks = nil },
		`own format "mine": it has no function that reads it`:             func(f *Format) { f.Read = nil },
		`own format "mine": it has no function Starts that recognises it`: func(f *Format) { f.Starts = nil },
		`own format "mine": it has columns, and no function ColumnNames`:  func(f *Format) { f.Columns = true },
		`own format "mine": it has no function IsFolder`: func(f *Format) {
			f.ReadFolder = func(string, Options) (*structured.Dataset, error) { return nil, nil }
		}, `own format "mine": its settings are a int; expected a struct`: func(f *Format) { f.Settings = 3 },
	} {
		f := good
		change(&f)
		if err := checkRegistration(f); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	byTask := good
	byTask.Read, byTask.ByTask = nil, true
	if err := checkRegistration(byTask); err != nil {
		t.Error(err)
	}
	had := HasOwnSettings()
	Register(good)
	if Failed() != nil || Find("mine").Holds != "x" || HasOwnSettings() != had {
		t.Errorf("%v", Failed())
	}
	own := good
	own.Name = "other"
	type size struct {
		Size int `yaml:"size" min:"1" help:"a size"`
	}
	own.Settings, own.Read = size{3}, func(_ io.Reader, _ string, o Options) (*structured.Dataset, error) {
		return &structured.Dataset{Name: fmt.Sprint(o.Own.(*size).Size)}, nil
	}
	Register(own)
	for want, given := range map[string]map[string]string{"3": nil, "7": {"size": "7"},
		"--format-settings size 0: expected at least 1": {"size": "0"}} {
		d, err := Find("other").Read(nil, "", Options{Given: given})
		if err == nil && d.Name != want || err != nil && err.Error() != want ||
			(Find("other").CheckOwn(given) == nil) != (err == nil) {
			t.Errorf("%v, %v, expected %s", d, err, want)
		}
	}
	if !HasOwnSettings() {
		t.Error("nobody has settings")
	}
	Register(good)
	if Failed() == nil || len(All()) < 3 {
		t.Error("a name is taken twice")
	}
}

// Files of a setting are those of a folder, in order, of a pattern, or between commas; several formats are refused.
func TestFilesOfSettings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.conll": "a O\n\n", "a.conll": "a O\n\n", ".hidden": "x",
		"x.conllu": "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n", "sub/c.conll": "a O\n\n"} {
		path := filepath.Join(dir, "data", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) string {
		for k := range names {
			names[k] = filepath.Join(dir, "data", names[k])
		}
		return strings.Join(names, ",")
	}
	for value, want := range map[string]string{
		at("."): at("a.conll", "b.conll", "x.conllu"), at("*.conll"): at("a.conll", "b.conll"),
		at("b.conll", "a.conll"): at("b.conll", "a.conll"), at("none"): at("none"),
	} {
		got, err := Expand("train", value, "conll")
		if err != nil || filepath.ToSlash(got) != filepath.ToSlash(want) {
			t.Errorf("%s: %s, %v, expected %s", value, got, err, want)
		}
	}
	if f, err := DetectAll(at("a.conll", "b.conll")); err != nil || f != "conll" {
		t.Errorf("%s, %v", f, err)
	}
	want := fmt.Sprintf("%s is conll, but %s is conllu: files that are read together have one format",
		at("a.conll"), at("x.conllu"))
	if _, err := DetectAll(at("a.conll", "x.conllu")); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
}
