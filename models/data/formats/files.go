package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Files returns the files that a setting names, separated by commas. The name of a file that exists may have commas
// itself.
func Files(value string) []string {
	if value == "" {
		return nil
	}
	if _, err := os.Stat(value); err == nil || !strings.Contains(value, ",") {
		return []string{value}
	}
	return strings.Split(value, ",")
}

// Expand replaces patterns (*, ? and [) in the files that a setting names by the files that match, and a folder by the
// files in it, both in the order of their names. A folder that is data in itself, in that format or as it is
// recognised, stays. It is bad input if nothing matches, or if a file occurs twice: its examples would count twice.
// Errors name the setting, unless it is empty.
func Expand(setting, value, format string) (string, error) {
	if setting != "" {
		setting = "--" + setting + " "
	}
	var all []string
	for _, part := range Files(value) {
		if part == "" {
			return "", structured.BadInput("%s%s: no name between two commas; expected FILE,FILE", setting, value)
		}
		files, err := expand(part, format)
		if err != nil {
			return "", structured.BadInput("%s%w", setting, err)
		}
		for _, file := range files {
			if slices.Contains(all, file) {
				return "", structured.BadInput("%s%s: %s is there twice, and its examples would count twice", setting, value, file)
			}
			all = append(all, file)
		}
	}
	if len(all) > 1 {
		for _, file := range all {
			if strings.Contains(file, ",") {
				return "", structured.BadInput("%s%s: one of several files has a comma in its name, which "+
					"separates files; rename %s", setting, value, file)
			}
		}
	}
	return strings.Join(all, ","), nil
}

func expand(part, format string) ([]string, error) {
	info, err := os.Stat(part)
	switch {
	case err == nil && info.IsDir() && isData(part, format), err == nil && !info.IsDir():
		return []string{part}, nil
	case err == nil:
		return filesIn(part)
	case !strings.ContainsAny(part, "*?["):
		return []string{part}, nil // reading it says what is wrong
	}
	matches, err := filepath.Glob(part)
	if err != nil {
		return nil, structured.BadInput("%s: %w", part, err)
	}
	if len(matches) == 0 {
		return nil, structured.BadInput("%s: no file matches", part)
	}
	return matches, nil
}

// isData reports whether a folder is data in itself.
func isData(folder, format string) bool {
	if format == "" {
		return byFolder(folder) != ""
	}
	f := Find(format)
	return f.ReadFolder != nil || f.IsFolder != nil
}

// filesIn returns the files in a folder, without hidden ones and folders.
func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	var files []string
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		files = append(files, filepath.Join(folder, e.Name()))
	}
	if len(files) == 0 {
		return nil, structured.BadInput("%s: no files in this folder, and it is in no known format itself; expected data "+
			"files, or a folder in the format %s", folder, folders())
	}
	return files, nil
}

// DetectAll recognises the format that all files of a setting have. It refuses files of several formats.
func DetectAll(value string) (string, error) {
	files := Files(value)
	format := ""
	for _, file := range files {
		f, err := Detect(file)
		if err != nil {
			return "", err
		}
		if format != "" && f != format {
			return "", structured.BadInput("%s is %s, but %s is %s: files that are read together have one format; give it "+
				"with --format, or leave one of them out",
				files[0], format, file, f)
		}
		format = f
	}
	return format, nil
}
