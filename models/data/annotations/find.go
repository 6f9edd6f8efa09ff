package annotations

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured/images"
)

// find looks for the file of an image in a folder, where annotations name it: they may name a place on another machine,
// with that machine's separators, leave the ending out, or have another one than the file that is there. Where nothing
// is there under its name, others are the names, without ending, under which it may be. Without any file it returns the
// name in the folder.
func find(folder, name string, others ...string) string {
	plain := filepath.Join(folder, filepath.FromSlash(name))
	isFile := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && !info.IsDir()
	}
	if isFile(plain) {
		return plain
	}
	if filepath.IsAbs(name) && isFile(name) {
		return name
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	for k := range parts {
		if path := filepath.Join(append([]string{folder}, parts[k:]...)...); isFile(path) {
			return path
		}
	}
	if len(parts) > 0 {
		last := parts[len(parts)-1]
		others = slices.Insert(slices.Clone(others), 0, last, strings.TrimSuffix(last, filepath.Ext(last)))
	}
	for _, other := range others {
		for _, kind := range images.Kinds {
			for _, ending := range []string{kind, strings.ToUpper(kind)} {
				if path := filepath.Join(folder, other+ending); other != "" && isFile(path) {
					return path
				}
			}
		}
	}
	return plain
}
