package images

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Kinds are the endings of files of images, in lower case.
var Kinds = []string{".png", ".jpg", ".jpeg"}

// Files lists the image files of a folder, sorted by name, without hidden ones; of a file, the file itself. No image is
// bad input.
func Files(path string) (dir string, names []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, structured.BadInput("%w, expected a folder of images, or one image", err)
	}
	dir = path
	if info.IsDir() {
		entries, err := os.ReadDir(path) // sorted
		if err != nil {
			return "", nil, structured.BadInput("%w, expected a folder of images", err)
		}
		for _, e := range entries {
			if name := e.Name(); !e.IsDir() && name[0] != '.' && slices.Contains(Kinds, strings.ToLower(filepath.Ext(name))) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return "", nil, structured.BadInput("%s: no images, expected files ending in %s", path, strings.Join(Kinds, ", "))
		}
	} else {
		dir, names = filepath.Dir(path), []string{filepath.Base(path)}
	}
	return dir, names, nil
}
