package host

import (
	"os"
	"path/filepath"
)

// FilesIn returns the paths of the files in a folder whose names match a pattern of filepath.Match, in the order of the
// names. The folder's own name is no pattern, as it would be for filepath.Glob. Hidden files do not count.
func FilesIn(folder, pattern string) ([]string, error) {
	entries, err := os.ReadDir(folder) // sorted
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		matches, err := filepath.Match(pattern, e.Name())
		if err != nil {
			return nil, err
		}
		if matches && !e.IsDir() && e.Name()[0] != '.' {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files, nil
}
