package masks

import (
	"errors"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ReadNames reads the names of labels from a text file: line k, from 0, has that of label k. Empty lines at the end do
// not count.
func ReadNames(path string) (*structured.Alphabet, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	names, err := readNames(host.NewLines(f, path), path)
	return names, errors.Join(err, f.Close())
}

func readNames(lines *host.Lines, path string) (*structured.Alphabet, error) {
	names, empty := structured.NewAlphabet(), 0
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		name := strings.TrimSpace(string(line))
		switch {
		case name == "":
			if empty == 0 {
				empty = lines.Number
			}
			continue
		case empty > 0:
			return nil, structured.BadInput("%s:%d: an empty line, expected the name of label %d", path, empty, empty-1)
		case names.Index(name) >= 0:
			return nil, lines.Bad("%q is the name of label %d too", name, names.Index(name))
		case names.Len() == MaxLabels:
			return nil, lines.Bad("expected at most %d names; 255 is void", MaxLabels)
		}
		names.Add(name)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if names.Len() == 0 {
		return nil, structured.BadInput("%s: no names, expected one label's name per line", path)
	}
	return names, nil
}
