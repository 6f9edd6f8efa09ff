package inputs

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// readLists reads the clusters and the gazetteer that c names, for a template.
func readLists(c *config.Config, t *features.Template) error {
	if c.Clusters != "" {
		err := formats.Open(c.Clusters, func(r io.Reader) error {
			var err error
			t.Clusters, err = features.ReadClusters(r, c.Clusters)
			return err
		})
		if err != nil {
			return err
		}
	}
	if c.Gazetteer == "" {
		return nil
	}
	t.Gazetteer = features.NewGazetteer()
	for path := range strings.SplitSeq(c.Gazetteer, ",") {
		kind, _, _ := strings.Cut(filepath.Base(path), ".")
		err := formats.Open(path, func(r io.Reader) error { return t.Gazetteer.Read(r, path, kind) })
		if err != nil {
			return err
		}
	}
	return nil
}

// The tensors of a model file that hold lists of words: bytes, as their Pack writes them.
const (
	clustersTensor  = "clusters"
	gazetteerTensor = "gazetteer"
	knownTensor     = "known_words"
)

// addLists puts the lists of a template into f.
func addLists(f *safetensors.File, t *features.Template) {
	if t.Clusters != nil {
		safetensors.Add(f, clustersTensor, t.Clusters.Pack())
	}
	if t.Gazetteer != nil {
		safetensors.Add(f, gazetteerTensor, t.Gazetteer.Pack())
	}
	if t.Known != nil {
		safetensors.Add(f, knownTensor, t.Known.Pack())
	}
}

// loadLists gives a template the lists that addLists put into f, and returns how many tensors held them.
func loadLists(f *safetensors.File, t *features.Template) (tensors int, err error) {
	load := func(name string, unpack func(packed string) error) {
		if _, ok := f.Tensors[name]; !ok || err != nil {
			return
		}
		var packed []uint8
		if packed, err = safetensors.Values[uint8](f, name, -1); err == nil {
			if err = unpack(string(packed)); err != nil {
				err = fmt.Errorf("tensor %q: %w", name, err)
			}
			tensors++
		}
	}
	load(clustersTensor, func(packed string) (err error) {
		t.Clusters, err = features.UnpackClusters(packed)
		return err
	})
	load(gazetteerTensor, func(packed string) (err error) {
		t.Gazetteer, err = features.UnpackGazetteer(packed)
		return err
	})
	load(knownTensor, func(packed string) (err error) {
		t.Known, err = features.UnpackKnown(packed)
		return err
	})
	return tensors, err
}
