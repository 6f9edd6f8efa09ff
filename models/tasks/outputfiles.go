package tasks

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// OutputFiles name gold outputs, and predicted ones of any program.
type OutputFiles struct {
	Gold, Predicted  string
	Void, MaskValues string // of masks, as the settings have them; empty: auto
	Class            string // of boxes; empty: that of the predicted ones, or the only one
}

// compareLinks compares the links of sentence pairs. Predicted ones stand in a file of pairs, or alone, with a line for
// each pair.
func compareLinks(f OutputFiles) (report Report, err error) {
	var gold *alignments.Corpus
	err = formats.Open(f.Gold, func(r io.Reader) error {
		gold, err = alignments.Reader{}.Read(r, f.Gold)
		return err
	})
	if err != nil {
		return nil, err
	}
	var predicted [][]alignments.Link
	err = formats.Open(f.Predicted, func(r io.Reader) error {
		predicted, err = predictedLinks(r, f.Predicted, gold)
		return err
	})
	if err != nil {
		return nil, err
	}
	e := alignments.NewEvaluator()
	for i, links := range predicted {
		e.AddLinks(gold.LinksOf(i), links)
	}
	return &LinkReport{e.Links()}, nil
}

// predictedLinks reads links for the pairs of gold.
func predictedLinks(r io.Reader, name string, gold *alignments.Corpus) ([][]alignments.Link, error) {
	var read bytes.Buffer
	beginning := host.NewLines(io.TeeReader(r, &read), name)
	var line []byte
	for more := true; more && len(bytes.TrimSpace(line)) == 0; {
		line, more = beginning.Next()
	}
	in := io.MultiReader(&read, r)
	if !bytes.Contains(line, []byte(alignments.Separator)) {
		return alignments.Reader{}.ReadLinks(gold, in, name)
	}
	c, err := alignments.Reader{}.Read(in, name)
	if err != nil {
		return nil, err
	}
	var all [][]alignments.Link
	for i := range min(c.Len(), gold.Len()) {
		if !slices.Equal(c.Source(i), gold.Source(i)) || !slices.Equal(c.Target(i), gold.Target(i)) {
			return nil, structured.BadInput("%s: other words, expected those of %s", c.Where(i), gold.Where(i))
		}
		all = append(all, c.LinksOf(i))
	}
	if c.Len() != gold.Len() {
		return nil, structured.BadInput("%s: found %d sentence pairs, expected the %d of %s", name,
			c.Len(), gold.Len(), gold.Name)
	}
	return all, nil
}

// compareMasks compares the masks of two folders, whose files have the same names. Pixels that are void in the gold
// masks do not count.
func compareMasks(f OutputFiles) (Report, error) {
	values, err := masks.ParseValues(cmp.Or(f.Void, masks.Auto), cmp.Or(f.MaskValues, masks.Auto))
	if err != nil {
		return nil, err
	}
	files, err := host.FilesIn(f.Gold, "*.[pP][nN][gG]")
	if err != nil || len(files) == 0 {
		return nil, structured.BadInput("%s: no masks, expected a folder of PNG files", f.Gold)
	}
	load := func(path string) (*masks.Mask, error) {
		m, err := masks.Read(path)
		if err != nil {
			return nil, err
		}
		return values.Read(m, path)
	}
	if values == nil {
		var found masks.Found
		for k := 0; k < len(files) && !found.Plain(); k++ {
			m, err := masks.Read(files[k])
			if err != nil {
				return nil, err
			}
			found.Add(m)
		}
		values = found.Object()
	}
	counts, labels := map[[2]uint8]float64{}, 0
	for _, file := range files {
		gold, err := load(file)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(f.Predicted, filepath.Base(file))
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, structured.BadInput("%s: no predicted mask, expected %s", file, path)
		}
		predicted, err := load(path)
		if err != nil {
			return nil, err
		}
		if predicted.Width != gold.Width || predicted.Height != gold.Height {
			return nil, structured.BadInput("%s: %d × %d pixels, expected the %d × %d of %s",
				path, predicted.Width, predicted.Height, gold.Width, gold.Height, file)
		}
		for i, l := range gold.Labels {
			is := predicted.Labels[i]
			switch {
			case l == masks.Void:
				continue
			case is == masks.Void:
				return nil, structured.BadInput("%s: the pixel at x %d, y %d is void, expected a label, as in %s",
					path, i%gold.Width, i/gold.Width, file)
			}
			counts[[2]uint8{l, is}]++
			labels = max(labels, int(l)+1, int(is)+1)
		}
	}
	names := make([]string, labels)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	if values != nil && values.Labels != nil {
		names = values.Names()
	}
	e := graphs.NewEvaluator(structured.NewAlphabet(names...))
	for l, n := range counts {
		e.AddCount(int32(l[0]), int32(l[1]), n)
	}
	return (&graphComparison{e, pixelNames}).Report(), nil
}

// compareBoxFiles compares boxes with annotated ones, in the images that training and eval use: those with exactly one
// object of the class.
func compareBoxFiles(f OutputFiles) (Report, error) {
	var gold *annotations.Set
	info, err := os.Stat(f.Gold)
	if err == nil && info.IsDir() {
		gold, err = annotations.VOC{}.Read(f.Gold)
	} else {
		gold, err = annotations.COCO{}.Read(f.Gold)
	}
	if err != nil {
		return nil, err
	}
	results, err := annotations.ReadPredicted(f.Predicted)
	if err != nil {
		return nil, err
	}
	all, class, counts, err := gold.Predicted(results, f.Class)
	if err != nil {
		return nil, err
	}
	var e boxes.Evaluator
	for _, p := range all {
		e.Add([]boxes.Truth{p.Truth}, p.Detections)
	}
	return &BoxReport{metrics: e.Metrics(), class: class, used: counts.Used, counts: &counts}, nil
}
