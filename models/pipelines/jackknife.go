package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// jackknife returns what models predict for the sentences that they were not trained on: one for each fold, a run of
// sentences.
func (t *trainer) jackknife(ctx context.Context, s stage, whole *table) (labels []string, seconds float64, err error) {
	n, folds := whole.sequences(), t.own.Folds
	for fold := range folds {
		inside := func(i int) bool { return i*folds/n == fold }
		var within, others []int
		for i := range n {
			if inside(i) {
				within = append(within, i)
			} else {
				others = append(others, i)
			}
		}
		kept := filepath.Join(t.dir, s.name, fmt.Sprintf("fold%d.labels", fold+1))
		part := whole.part(inside)
		predicted, err := readLabels(kept, len(part.labels))
		if err != nil {
			return nil, 0, err
		}
		if predicted == nil {
			rest := whole.part(func(i int) bool { return !inside(i) })
			if label, same := rest.constant(); same { // nothing to learn
				labels = append(labels, slices.Repeat([]string{label}, len(part.labels))...)
				continue
			}
			name := filepath.Join(s.name, fmt.Sprintf("fold%d", fold+1))
			r, err := t.learnFold(ctx, name, s, rest, others)
			if err != nil {
				return nil, 0, err
			}
			seconds += r.Seconds
			var rows *structured.Dataset
			if s.rows && t.rows != nil {
				rows = t.rows.Subset(within)
			}
			if predicted, err = t.predictWith(name, part, rows); err != nil {
				return nil, 0, err
			}
			if err := writeLabels(kept, predicted); err != nil {
				return nil, 0, err
			}
			if err := os.RemoveAll(filepath.Join(t.dir, name)); err != nil {
				return nil, 0, err
			}
		}
		labels = append(labels, predicted...)
	}
	return labels, seconds, nil
}

// learnFold trains the model of a fold on the table of some sentences, with as many passes as were best for that of
// all.
func (t *trainer) learnFold(ctx context.Context, name string, s stage, table *table,
	sentences []int) (StageResult, error) {
	if s.rows && t.rows != nil {
		if err := t.keepRows(sentences); err != nil {
			return StageResult{}, err
		}
	}
	return t.learn(ctx, name, table, nil, func(c *config.Config) {
		t.readsRows(s)(c)
		if whole := t.result(s.name); t.dev != nil && whole.Kept > 0 {
			c.Passes = whole.Kept
		}
	})
}

// readLabels reads a file of n labels, one per line. It returns nil if there is no such file.
func readLabels(path string, n int) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(all) != n {
		return nil, structured.BadInput("%s: %d labels, expected %d; delete it to have them made again", path, len(all), n)
	}
	return all, nil
}

func writeLabels(path string, labels []string) error {
	return host.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(labels, "\n")+"\n")
		return err
	})
}

// predictWith returns the labels that the model in a folder inside predicts for a table, whose words may have rows of
// the encoder.
func (t *trainer) predictWith(name string, table *table, rows *structured.Dataset) ([]string, error) {
	defer host.AtStage(filepath.ToSlash(name))()
	m, err := models.LoadWith(filepath.Join(t.dir, name), encoded.Source{Reader: t.encoder})
	if err != nil {
		return nil, err
	}
	p := &Pipeline{stages: map[string]*part{name: {model: m}}}
	return p.NewWorker().labels(name, table, rows)
}
