package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/server"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/tasks"
)

// The pages say what the program is.
func TestPagesAreCurrent(t *testing.T) {
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range all {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("docs/reference/%s is not what the program is now (%v): run go generate ./docs/reference, and commit", file,
				err)
		}
	}
	here, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range here {
		if all[file] == "" {
			t.Errorf("docs/reference/%s is not generated", file)
		}
	}
}

// The example of each format is recognised, and its task reads it.
func TestExamplesAreRead(t *testing.T) {
	for _, f := range formats.All() {
		paths, err := filepath.Glob(filepath.Join("examples", f.Name+".*"))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.IsFolder != nil:
			paths = append(paths, filepath.Join("examples", f.Name))
		case len(paths) == 0:
			if paths, err = filepath.Glob(filepath.Join("examples", f.Name, "*"+f.Extensions[0])); err != nil {
				t.Fatal(err)
			}
		}
		if len(paths) == 0 {
			t.Errorf("%s has no example", f.Name)
		}
		for _, path := range paths {
			found, err := formats.Detect(path)
			if err != nil || found != f.Name {
				t.Errorf("%s is taken for %s (%v), expected %s", path, found, err, f.Name)
			}
			read := false
			for _, name := range tasks.Reading(f) {
				c := config.Default()
				c.Train, c.Format, c.Task = path, f.Name, name
				if name == "segment" {
					c.Masks = filepath.Join(path, "masks")
				}
				r, err := models.Resolve(c)
				if err == nil {
					_, err = r.Read()
				}
				read = read || err == nil
				t.Logf("%s as %s: %v", path, name, err)
			}
			if !read {
				t.Errorf("%s: no task of format %s reads it", path, f.Name)
			}
		}
	}
}

// Members that are written without a type are those that the source names.
func TestMembersAreThoseOfTheSource(t *testing.T) {
	check := func(o object) {
		for file := range strings.FieldsSeq(o.file) {
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			o.file = strings.Replace(o.file, file, "", 1) + string(text)
		}
		for _, m := range o.members {
			name := m.name[strings.LastIndexByte(m.name, '.')+1:]
			counted := strings.TrimRight(name, "0123456789") // "ar10" is written as "ar" and a number
			if o.file != "" && !strings.Contains(o.file, strconv.Quote(name)) &&
				!strings.Contains(o.file, strconv.Quote(counted)) {
				t.Errorf("the source writes no member %s", m.name)
			}
		}
	}
	for _, a := range answers {
		check(a.object)
	}
	for _, r := range reports {
		check(object{members: r.object.members, file: strings.ReplaceAll(r.object.file, "structured/graphs/evaluator.go",
			"structured/graphs/evaluator.go structured/metrics.go")})
	}
	files, err := filepath.Glob(filepath.Join(root, "models/predictions/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile("[{,`]\"([a-z_]+)\":|(?:perLabel|elements)\\(text, p, "+
			"\"(\\w+)\", \"(\\w+)\"").FindAllStringSubmatch(string(text), -1) {
			named = append(named, m[1:]...)
		}
	}
	for _, name := range named {
		if name != "" && !slices.ContainsFunc(predicted, func(m member) bool { return m.name == name }) {
			t.Errorf("predictions have the member %s, which json.md does not describe", name)
		}
	}
	for _, m := range predicted {
		if !slices.Contains(named, m.name) {
			t.Errorf("json.md describes the member %s, which predictions do not have", m.name)
		}
	}
}

// The environment variables are those that sources name; tests may have others of their own.
func TestVariablesAreThoseOfTheSources(t *testing.T) {
	named := map[string]bool{}
	variable := regexp.MustCompile(`"(DSP_[A-Z_]+)[="]`)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "build" || e.Name() == "reference" || e.Name() == ".git") {
			return cmp.Or(err, fs.SkipDir)
		}
		if !slices.Contains([]string{".go", ".cpp", ".h", ".py"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range variable.FindAllSubmatch(text, -1) {
			named[string(m[1])] = named[string(m[1])] || !strings.HasSuffix(path, "_test.go")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables {
		if _, ok := named[v.name]; !ok {
			t.Errorf("environment.md describes %s, which nothing reads", v.name)
		}
		delete(named, v.name)
	}
	for name, read := range named {
		if read {
			t.Errorf("environment.md does not describe %s", name)
		}
	}
}

// The options of requests are those that the server reads.
func TestQueriesAreThoseOfTheServer(t *testing.T) {
	read := server.QueryOptions()
	for _, name := range read {
		if !slices.ContainsFunc(queries, func(q struct{ name, value, what string }) bool { return q.name == name }) {
			t.Errorf("the server reads the option %s, which http.md does not describe", name)
		}
	}
	for _, q := range queries {
		if !slices.Contains(read, q.name) {
			t.Errorf("http.md describes the option %s, which the server does not read", q.name)
		}
	}
}

// The codes of the page are those that the source of the server names.
func TestCodesAreThoseOfTheServer(t *testing.T) {
	numbers := map[string]int{
		"OK": 200, "BadRequest": 400, "Unauthorized": 401, "Forbidden": 403, "NotFound": 404, "MethodNotAllowed": 405,
		"RequestTimeout": 408, "RequestEntityTooLarge": 413, "UnsupportedMediaType": 415, "TooManyRequests": 429,
		"InternalServerError": 500, "ServiceUnavailable": 503,
		"GatewayTimeout": 504,
	}
	files, err := filepath.Glob(filepath.Join(root, "cmd/dsp/server/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	answered := map[string]bool{"200": true}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`http\.Status([A-Z]\w*)`).FindAllSubmatch(text, -1) {
			if name := string(m[1]); name != "Text" && !strings.HasSuffix(path, "_test.go") {
				if numbers[name] == 0 {
					t.Errorf("%s answers http.Status%s, which this test does not know", path, name)
				}
				answered[strconv.Itoa(numbers[name])] = true
			}
		}
	}
	for _, c := range codes {
		if !answered[c.code] {
			t.Errorf("http.md has the code %s, which the server does not answer", c.code)
		}
		delete(answered, c.code)
	}
	if len(answered) > 0 {
		t.Errorf("http.md lacks the codes %v", answered)
	}
}

// What is written are all pages, and no other file; a folder that is not there is an error.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(filepath.Join(dir, "none")); err == nil {
		t.Error("pages are written nowhere")
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(pages()) + 1; len(here) != want { // and the page that lists them
		t.Errorf("%d files, want %d", len(here), want)
	}
	for _, file := range here {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil || !strings.HasPrefix(string(text), generated+"# ") {
			t.Errorf("%s: %d bytes, %v", file.Name(), len(text), err)
		}
	}
}
