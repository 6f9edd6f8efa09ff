package models

import (
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured"
)

// Beside are the files that are read with a data file; empty ones are not.
type Beside struct {
	Dense  string // npz file of the dense features of text
	Boxes  string // file of candidate boxes; without it, sliding windows or those of an npz archive
	Images string // folder of the images; empty: beside their annotations
	Links  string // file of the links of sentence pairs; empty: they are in the data file
	Masks  string // folder of the masks of images
}

// besideFile is a setting that names files beside data.
type besideFile struct {
	name string
	path *string
}

func (b *Beside) files() []besideFile {
	return []besideFile{{"dense", &b.Dense}, {"boxes", &b.Boxes}, {"images", &b.Images}, {"links", &b.Links},
		{"masks", &b.Masks}}
}

// joined lists the files beside several files, as settings do.
func joined(all []Beside) (lists Beside) {
	for k, to := range lists.files() {
		var paths []string
		for i := range all {
			if path := *all[i].files()[k].path; path != "" {
				paths = append(paths, path)
			}
		}
		*to.path = strings.Join(paths, ",")
	}
	return lists
}

// filesOf returns the files that c has beside each file of the training, development and test data.
func filesOf(c *config.Config) ([3][]Beside, error) {
	return filesFor([3][]string{formats.Files(c.Train), formats.Files(c.Dev), formats.Files(c.Test)},
		Beside{c.Dense, c.Boxes, c.Images, c.Links, c.Masks})
}

// filesFor parts lists of files to be read beside the files of three data sets.
func filesFor(paths [3][]string, lists Beside) (all [3][]Beside, err error) {
	for k := range paths {
		all[k] = make([]Beside, len(paths[k]))
	}
	for n, list := range lists.files() {
		files, err := filesBeside(paths, list.name, *list.path)
		if err != nil {
			return all, err
		}
		for k := range all {
			for i := range all[k] {
				*all[k][i].files()[n].path = files[k][i]
			}
		}
	}
	return all, nil
}

// filesBeside returns the files that a setting gives beside each of the files of training, development and test data,
// separated by commas; empty where there are none. Each file needs its own, in order; a single folder of images is for
// all.
func filesBeside(paths [3][]string, name, value string) (files [3][]string, err error) {
	given := formats.Files(value)
	shared := name == "images" && len(given) == 1
	for k, data := range []string{"train", "dev", "test"} {
		files[k] = make([]string, len(paths[k]))
		for i, path := range paths[k] {
			switch {
			case value == "":
				continue
			case shared:
				files[k][i] = given[0]
				continue
			case len(given) == 0 || given[0] == "":
				return files, structured.BadInput("--%s %s: no file for --%s %s; expected one file for each of train, dev and "+
					"test that is given", name, value, data, path)
			}
			files[k][i], given = given[0], given[1:]
		}
	}
	if len(given) > 0 && !shared {
		return files, structured.BadInput("--%s %s: %s is one file too many; expected one for each of train, dev and test "+
			"that is given", name, value, given[0])
	}
	return files, nil
}
