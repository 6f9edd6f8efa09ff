package training

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// lesson holds the targets of a training that a teacher gives (--teacher).
type lesson struct {
	data    *structured.Dataset // the training data, with whole labels, which nothing but the checks reads
	targets structured.Marginals
	origin  structured.Marginals // potentials whose marginals are about the targets; zeros where they are not known
	single  []bool               // targets that are single outputs

	share structured.Share // the examples whose targets this process has; its peers have the others
}

// learn asks the teacher of the data for the targets of a model m.
func learn(c *config.Config, data *models.Data, m *models.Model, log *slog.Logger) (*lesson, error) {
	d := *data.Train
	d.Labels, d.LabelSets = make([]int32, len(data.Train.Labels)), nil
	l := &lesson{data: &d}
	form := m.Net.Form()
	l.share = data.TaughtHere()
	size, copies := 0.0, 2.0 // targets, and their potentials
	// Methods without data of their own need those of all examples.
	if method, chosen := c.Optimiser(); !chosen || ownData(method, c) {
		copies *= float64(l.share.Last-l.share.First) / float64(max(1, d.Len()))
	}
	for _, p := range form.Parts {
		rows := d.Len()
		if p.Rows != structured.Tied {
			offsets := d.Rows(p.Rows)
			rows = offsets[len(offsets)-1]
		}
		size += 4 * copies * float64(rows) * float64(p.Width)
	}
	if err := host.CheckMemory("the marginals of the teacher", size); err != nil {
		return nil, err
	}
	l.targets.Reshape(form, d.Len(), d.Rows)
	l.origin.Reshape(form, d.Len(), d.Rows) // zeros, of which those of other processes' examples take no memory
	l.single = make([]bool, d.Len())
	entropy, err := data.Teach(context.Background(), m, c.TeacherShare, c.Threads, func(i int, t models.Target) {
		l.targets.Set(i, t.Marginals, t.At)
		copy(d.Gold(i), t.Labels)
		if l.single[i] = t.Single; t.Origin != nil {
			l.origin.Set(i, t.Origin, t.At)
		}
	})
	if err != nil {
		return nil, err
	}
	engine.BalanceTargets(form, &l.targets)
	own := d.Labels[d.Offsets[l.share.First]:d.Offsets[l.share.Last]]
	if err := structured.AllGatherNumbers(l.share.Peers, d.Labels, own); err != nil {
		return nil, err
	}
	if log != nil {
		log.Info("targets are the marginals of a teacher", "teacher", c.Teacher, "share", c.TeacherShare, "entropy", fmt.Sprintf("%.6g nats per example", entropy))
	}
	return l, nil
}

// give makes the targets those of an objective.
func (l *lesson) give(o *engine.Objective) {
	o.Completion, o.Soft = &engine.Memory{}, true
	o.Completion.Form(o)
	for k := range o.Completion.Parts {
		o.Completion.Parts[k].Values = l.targets.Parts[k].Values
	}
	o.Origin = func(i int, θ *structured.Potentials) bool {
		for k := range θ.Parts {
			copy(θ.Parts[k].Values, l.origin.Parts[k].Of(i))
		}
		return !l.single[i]
	}
}

// complete fetches the targets of other processes' examples, for a method that needs them all.
func (l *lesson) complete(o *engine.Objective) error {
	parts := slices.Clone(l.targets.Parts)
	if o.Origin != nil {
		parts = append(parts, l.origin.Parts...)
	}
	for k := range parts {
		if err := structured.AllGatherNumbers(l.share.Peers, parts[k].Values, l.own(&parts[k])); err != nil {
			return err
		}
	}
	l.share = structured.Whole(l.data)
	return nil
}

// own returns the numbers of this process's examples.
func (l *lesson) own(p *structured.Part) []float32 {
	return p.Values[p.Offsets[l.share.First]*p.Width : p.Offsets[l.share.Last]*p.Width]
}

// fingerprint is equal for equal targets, whichever process has them.
func (l *lesson) fingerprint() (string, error) {
	var parts []string
	for k := range l.targets.Parts {
		p := &l.targets.Parts[k]
		print, err := train.DividedFingerprintOf(l.share.Peers, l.own(p), len(p.Values))
		if err != nil {
			return "", err
		}
		parts = append(parts, print)
	}
	return strings.Join(parts, " "), nil
}
