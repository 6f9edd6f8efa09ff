package formats

import (
	"strings"
	"testing"
)

// Errors about the files of a setting begin with it, and without a setting with the file.
func TestExpandNamesTheSetting(t *testing.T) {
	folder := t.TempDir()
	for value, want := range map[string]string{
		folder:   folder + ": no files in this folder",
		"a,,b":   "a,,b: no name between two commas",
		"a,b,a":  "a,b,a: a is there twice",
		"*.nope": "*.nope: no file matches",
	} {
		for setting, prefix := range map[string]string{"": "", "train": "--train "} {
			if _, err := Expand(setting, value, ""); err == nil || !strings.HasPrefix(err.Error(), prefix+want) {
				t.Errorf("%q: %v, want %s", setting, err, prefix+want)
			}
		}
	}
}
