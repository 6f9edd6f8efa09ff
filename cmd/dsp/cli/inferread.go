package cli

import (
	"context"
	"io"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/uai"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// read reads the network and its evidence: of every variable its state, or factors.Free.
func (f *inference) read(ctx context.Context, path string) (m *factors.Model, evidence []int, err error) {
	err = formats.Open(path, func(r io.Reader) error {
		r = interruptible{ctx, r}
		if !uai.IsWCSP(path) {
			m, err = uai.ReadModel(r, host.NameOf(path))
			return err
		}
		if f.costs, err = uai.ReadWCSP(r, path); err == nil {
			m = f.costs.Model
		}
		return err
	})
	if err == nil {
		evidence = make([]int, len(m.States))
		for v := range evidence {
			evidence[v] = factors.Free
		}
		if f.evidence != "" {
			err = formats.Open(f.evidence, func(r io.Reader) error {
				evidence, err = uai.ReadEvidence(interruptible{ctx, r}, f.evidence, m)
				return err
			})
		}
	}
	if ctx.Err() != nil { // the reader's error would blame the file
		return nil, nil, ctx.Err()
	}
	return m, evidence, err
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
