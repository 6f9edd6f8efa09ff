package features

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

//go:embed sets/*.template
var sets embed.FS

const setExtension = ".template"

// Sets lists the names of the built-in templates.
func Sets() []string {
	files, err := sets.ReadDir("sets")
	if err != nil {
		panic(err) // the files are embedded, so this cannot fail
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), setExtension))
	}
	return names
}

// Builtin returns the text of a built-in template: ner (named entities), pos (parts of speech), chunk (chunks) or hmm
// (a hidden Markov model).
func Builtin(set string) (text string, err error) {
	if !slices.Contains(Sets(), set) {
		return "", structured.BadInput("features %q, expected one of %s", set, strings.Join(Sets(), " "))
	}
	content, err := sets.ReadFile(path.Join("sets", set+setExtension))
	return string(content), err
}
