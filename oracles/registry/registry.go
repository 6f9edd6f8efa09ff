// Package registry is the registry of structures, each with its oracle (structures.go): training, models, commands
// and the contract suite then include it. A program registers structures of its own (Register).
package registry

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
)

// Kind is a structure with everything that training needs.
type Kind struct {
	structured.Structure
	// Oracle returns a new oracle of the structure with its own scratch memory. The interfaces that it implements show
	// its capabilities beyond Max.
	Oracle func() oracles.Maximiser
	// Small draws the form of potentials of a batch of examples that are small enough to enumerate. The values are
	// undefined.
	Small func(r *rand.Rand) *structured.Potentials
	// OracleOf returns an oracle for one of the structures of this kind, which differ in more than their potentials
	// show, such as a limit. Nil: Oracle is for all of them.
	OracleOf func(s structured.Structure) oracles.Maximiser
	// Chart declares the derivations of an example's outputs, for structures that have some: what the oracle does not
	// answer, chart.New(Chart) does, in float64. Nil: the structure is no chart.
	Chart chart.Declare
}

// Prepare makes drawn potentials those that the kind's oracle answers for exactly. Most oracles answer for all.
func (k Kind) Prepare(θ *structured.Potentials) {
	if s, ok := k.Structure.(interface{ Prepare(*structured.Potentials) }); ok {
		s.Prepare(θ)
	}
}

// All lists the registered kinds: those of dsp in the order of their names, and then those that the program registered.
var All []Kind

// builtin registers a kind of dsp itself.
func builtin(k Kind) Kind {
	at, taken := slices.BinarySearchFunc(All, k.Name(), func(other Kind, name string) int {
		return cmp.Compare(other.Name(), name)
	})
	if taken {
		panic("two structures of the name " + k.Name())
	}
	All = slices.Insert(All, at, k)
	return k
}

// Register adds a structure of a program's own, with its oracle. A program registers its structures before it uses any.
// It is an error if the name is empty or taken, or if a function is missing.
func Register(k Kind) error {
	switch {
	case k.Structure == nil || k.Name() == "":
		return structured.BadInput("own structure: it has no name")
	case slices.ContainsFunc(All, func(other Kind) bool { return other.Name() == k.Name() }):
		return structured.BadInput("own structure %q: another one has this name", k.Name())
	case k.Oracle == nil || k.Small == nil:
		return structured.BadInput("own structure %q: it needs the functions Oracle and Small", k.Name())
	}
	All = append(All, k)
	return nil
}

// Of returns the kind of a structure, which is its Structure, and whose oracles keep to its limits. It panics if the
// structure is not registered, which is a bug in the caller.
func Of(s structured.Structure) Kind {
	for _, k := range All {
		if k.Name() == s.Name() {
			k.Structure = s
			if of := k.OracleOf; of != nil {
				k.Oracle = func() oracles.Maximiser { return of(s) }
			}
			return k
		}
	}
	panic(fmt.Sprintf("structure %q is not registered (registry.Register)", s.Name()))
}
