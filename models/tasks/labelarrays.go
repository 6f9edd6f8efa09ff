package tasks

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// writeLabels writes the predicted labels of sequences to an npz archive: labels [ΣT], numbers of label_names [Y];
// offsets [n+1], where each sequence begins; scores and probabilities [n] of the sequences of labels; if they are asked
// for, marginals [ΣT×Y], and confidence [ΣT], the marginals of the labels.
func writeLabels(_ *config.Config, d *structured.Dataset, names *structured.Alphabet, o predictions.Options,
	path string, predict PredictSome) error {
	if !strings.EqualFold(filepath.Ext(path), ".npz") {
		return structured.BadInput("--to %s: labels are written as .npz", path)
	}
	o.Probability = true
	labels, offsets := make([]int32, 0, d.Positions()), []int64{0}
	var scores, probabilities []float64
	var marginals, confidence []float32
	err := predict(d, o, func(_ int, p *predictions.Prediction) error {
		labels = append(labels, p.Labels...)
		offsets = append(offsets, int64(len(labels)))
		scores, probabilities = append(scores, p.Score), append(probabilities, p.Probability)
		if o.Marginals {
			marginals = append(marginals, p.Marginals...)
		}
		if o.Confidence {
			for t, l := range p.Labels {
				confidence = append(confidence, p.Marginals[t*names.Len()+int(l)])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			if err := arrays.Add(n, "labels", labels, len(labels)); err != nil {
				return err
			}
			if err := arrays.Add(n, "offsets", offsets, len(offsets)); err != nil {
				return err
			}
			if err := arrays.Add(n, "scores", scores, len(scores)); err != nil {
				return err
			}
			if err := arrays.Add(n, "probabilities", probabilities, len(probabilities)); err != nil {
				return err
			}
			if o.Marginals {
				if err := arrays.Add(n, "marginals", marginals, len(labels), names.Len()); err != nil {
					return err
				}
			}
			if o.Confidence {
				if err := arrays.Add(n, "confidence", confidence, len(labels)); err != nil {
					return err
				}
			}
			return n.AddText("label_names", names.Names())
		})
	})
}
