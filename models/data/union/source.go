package union

import (
	"sort"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// sources are the dense inputs of joined data sets, of which at least one keeps them out of memory.
type sources struct {
	parts []part
	dim   int
}

// part is one data set's share of the positions.
type part struct {
	from   int // its first position
	of     structured.FeatureSource
	values []float32 // where they are in memory
}

// joinSources returns the dense inputs of all sets; nil if they have none.
func joinSources(sets []*structured.Dataset) structured.FeatureSource {
	if !sets[0].HasFeatures() {
		return nil
	}
	s := &sources{dim: sets[0].Dim}
	at := 0
	for _, d := range sets {
		s.parts = append(s.parts, part{at, d.Source, d.Features})
		at += d.Positions()
	}
	return s
}

func (s *sources) Read(dst []float32, from, to int) error {
	for at := from; at < to; {
		k := sort.Search(len(s.parts), func(k int) bool { return s.parts[k].from > at }) - 1
		p, end := s.parts[k], to
		if k+1 < len(s.parts) {
			end = min(end, s.parts[k+1].from)
		}
		into := dst[(at-from)*s.dim : (end-from)*s.dim]
		if p.values != nil {
			copy(into, p.values[(at-p.from)*s.dim:])
		} else if err := p.of.Read(into, at-p.from, end-p.from); err != nil {
			return err
		}
		at = end
	}
	return nil
}

func (s *sources) Fingerprint() (string, error) {
	var all []string
	for _, p := range s.parts {
		if p.of == nil {
			continue
		}
		text, err := p.of.Fingerprint()
		if err != nil {
			return "", err
		}
		all = append(all, text)
	}
	return strings.Join(all, " "), nil
}
