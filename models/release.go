package models

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
)

// Released says what became of what a model tells about its maker.
type Released struct {
	Hashed int      `json:"hashed"` // names of attributes and words that hashes took the place of
	Clear  []string `json:"clear"`  // what can still be read
}

// Release makes m a model for others. It predicts the same, to the bit. Hashes take the place of the names of
// attributes and words, and its file names none of its maker's. Two names with the same hash, and a model that was
// released before, are bad input. NeedsNames refuses what needs the names.
func (m *Model) Release() (Released, error) {
	if m.Salt != "" {
		return Released{}, structured.BadInput("the model was released before")
	}
	if m.Config.L1 > 0 || m.Config.Radius > 0 { // while attributes without weights have names
		kept, err := m.pruned()
		if err != nil {
			return Released{}, err
		}
		*m = *kept
	}
	hashed, err := m.Inputs.Release(m.weights(false).Sum())
	return Released{hashed, m.clear()}, err
}

// clear lists what can be read in the file of a released model.
func (m *Model) clear() []string {
	all := []string{"settings without files"}
	add := func(n int, what string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(m.Labels.Len(), "labels")
	add(m.Characters.Len(), "characters")
	if t := m.Template; t != nil || m.Own != nil {
		all = append(all, "the template of attributes")
		if t != nil && t.Clusters != nil {
			all = append(all, "the words of --clusters")
		}
		if t != nil && t.Gazetteer != nil {
			all = append(all, "the names of --gazetteer")
		}
	}
	if m.Encoder != nil {
		all = append(all, "the pieces of words that the encoder reads")
	}
	return all
}

// NeedsNames refuses a released model where the names of its attributes and words are needed for a purpose.
func (m *Model) NeedsNames(purpose string) error {
	if !m.Hashed() {
		return nil
	}
	return structured.BadInput("the model was released: it has hashes in place of the names of attributes and words, which are needed to %s; use the model that it was made from", purpose)
}
