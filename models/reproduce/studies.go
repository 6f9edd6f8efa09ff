package reproduce

import (
	"embed"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

//go:embed studies/*/*.yaml
var studies embed.FS

// files returns the paths of a paper's figures in studies, in their order.
func files(study string) []string {
	all, _ := fs.Glob(studies, "studies/"+study+"/*.yaml")
	slices.Sort(all)
	return all
}

// Study returns the figures of a paper that come with the program.
func Study(name string) ([]*Figure, error) {
	var all []*Figure
	for _, path := range files(name) {
		text, err := studies.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := Parse(filepath.Base(path), text)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// WriteStudy writes the figures of a paper as YAML files into dir, to be edited. Files that are there already are
// refused.
func WriteStudy(name, dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, structured.BadInput("--write: %w", err)
	}
	var written []string
	for _, from := range files(name) {
		to := filepath.Join(dir, filepath.Base(from))
		if _, err := os.Stat(to); err == nil {
			return written, structured.BadInput("--write %s: %s is there already; remove it, or name another folder", dir, to)
		}
		text, err := studies.ReadFile(from)
		if err != nil {
			return written, err
		}
		if err := host.WriteFile(to, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return written, structured.BadInput("--write: %w", err)
		}
		written = append(written, to)
	}
	return written, nil
}
