// Package structured defines what all structures share: data sets and batches, potentials and marginals as ragged
// tables (parts), the interfaces of structures, task losses and evaluators, and metrics. Its folders hold one structure
// each, the readers of data, and the templates that turn text into attributes.
//
// Everything lives in potential space. An example i has potentials θ_i, for instance one number per node and label and
// one per pair of neighbouring labels. An output y is the 0/1 indicator 1_y in the same space, so that score(y) = ⟨θ_i,
// 1_y⟩. An oracle answers with a point u of the marginal polytope, the convex hull of those indicators.
package structured

// Structure defines the outputs of a task and how potentials score them. An output is a list of numbers: the labels of
// a chain, or the heads and relations of a tree's words. A structure may implement Restricter, Raiser, RiskMinimiser,
// GoldReader, CostReader and DataChecker too.
type Structure interface {
	// Name returns the name of the structure: "chain".
	Name() string

	// Score returns ⟨θ, 1_y⟩ for an output y of example b, in float64.
	Score(θ *Potentials, b int, y []int32) float64
	// Add adds c·1_y to example b of u.
	Add(u *Marginals, b int, y []int32, c float32)
	// LogOutputs returns the mean over d of the logarithm of the number of outputs that potentials of this form can
	// express.
	LogOutputs(d *Dataset, form Form) float64
	// TaskLoss returns the structure's own task loss, with its default settings: for chains and trees the number of
	// wrong numbers.
	TaskLoss() TaskLoss
	// Each calls visit with every output of example b, forbidden or not, in the order by which oracles break ties.
	// visit must not keep y. The number of outputs is exponential: Each is for tests and small instances.
	Each(θ *Potentials, b int, visit func(y []int32))
}

// Entrywise is a Structure with a part of which an output uses one entry per row. If all other parts are 0, the best
// output uses the largest entry of each row.
type Entrywise interface {
	Structure
	// EntryPart returns the number of the part.
	EntryPart() int
}

// Restricter is a Structure whose potentials can forbid what a partial gold output rules out, and nothing else. Without
// it, gold outputs must be fully known.
type Restricter interface {
	Structure
	// Restrict forbids every output of example b that contradicts its gold output.
	Restrict(θ *Potentials, b int, gold Gold)
}

// Distinguisher is a Structure whose name does not say all that its outputs depend on.
type Distinguisher interface {
	Structure
	// Same reports whether another structure of the same name has the same outputs, and its potentials the same
	// meaning.
	Same(other Structure) bool
}

// Raiser is a Structure whose outputs are scored number by number, at least in part. Every structure with sums over its
// outputs is one.
type Raiser interface {
	Structure
	// Raise adds c to the entries that score a single number of y, not to those that score several numbers jointly.
	Raise(θ *Potentials, b int, y []int32, c float32)
}

// RiskMinimiser is a Structure that can find the output with the least expected task loss. Every structure with sums
// over its outputs is one.
type RiskMinimiser interface {
	Structure
	// LeastRisk fills θ so that its best output minimises the expected task loss under marginals u.
	LeastRisk(u *Marginals, θ *Potentials)
}

// RowSkipper is a Structure whose outputs leave out rows of some part: they use no more of them than they have numbers,
// and the marginals of a row need not have a known sum. Without it, an output may use every row, and uses each row of
// several entries equally often.
type RowSkipper interface {
	Structure
	// SkipsRows reports whether outputs leave out rows of a part.
	SkipsRows(part int) bool
}

// OneEntry is a Structure with one part, each of whose outputs is one of its entries: marginals sum to 1.
type OneEntry interface {
	Structure
	OneEntry()
}

// RowCounter is a RowSkipper whose outputs use fewer rows of a part than they have numbers.
type RowCounter interface {
	RowSkipper
	// UsedRows returns the most rows of a part that an output of so many numbers uses.
	UsedRows(numbers int) int
}

// Locator is a Structure whose outputs are not a label for each position, scored by a row of the first part.
type Locator interface {
	Structure
	// Locate visits what scores the numbers of an output y one by one: an entry of an example's values of a part, and
	// the label that it is about, −1 if it is about none. Numbers that are not known are left out.
	Locate(θ *Potentials, y []int32, visit func(part, entry int, label int32))
}

// Locate is that of a Locator; for other structures, it visits the labels of the positions.
func Locate(θ *Potentials, y []int32, visit func(part, entry int, label int32)) {
	if s, ok := θ.Structure.(Locator); ok {
		s.Locate(θ, y, visit)
		return
	}
	for t, l := range y {
		if l >= 0 {
			visit(0, t*θ.Parts[0].Width+int(l), l)
		}
	}
}

// DataChecker is a Structure that not every data set of the right tables fits.
type DataChecker interface {
	Structure
	// CheckData returns a bad-input error that names the first example whose size, gold output or costs do not fit the
	// structure.
	CheckData(d *Dataset) error
}

// GoldReader is a Structure whose task loss is no sum over an output's parts, so that an output has a coordinate of its
// own for the loss. Its potentials and marginals carry the gold outputs of their examples, from which Score and Add
// compute that coordinate.
type GoldReader interface {
	Structure
	// ReadsGold marks the structure.
	ReadsGold()
}

// CostReader is a Structure whose task loss reads Gold.Costs.
type CostReader interface {
	Structure
	// CostRows returns the table that has one row per cost: Dataset.CostRows.
	CostRows() string
}

// Gold is a gold output, possibly partial. A number that is not known for certain is −1−k, and Sets[k] lists the
// possible numbers in order; nil allows any.
type Gold struct {
	Output []int32
	Sets   [][]int32
	// what the parts of a wrong output cost, one number per row of a table that the structure names (CostReader); nil
	// without
	Costs []float32

	// Reading is what the output reads, where many outputs read the same: the symbols of a line whose frames have
	// labels. It says more of the output than the possible numbers do. nil: nothing more is known; a line without
	// symbols has an empty one.
	Reading []int32
}

// Partial reports whether some number of the output is not known for certain.
func (g Gold) Partial() bool {
	if len(g.Sets) == 0 {
		return false
	}
	for _, l := range g.Output {
		if l < 0 {
			return true
		}
	}
	return false
}

// Possible returns the possible numbers at place t, in order; nil allows any. It stores a single number in single, to
// avoid an allocation.
func (g Gold) Possible(t int, single *[1]int32) []int32 {
	l := g.Output[t]
	if l < 0 {
		return g.Sets[-1-l]
	}
	single[0] = l
	return single[:]
}

// TaskLoss is a task loss ℓ(y, y*) ≥ 0 that is linear in 1_y, so that a loss-augmented oracle is an oracle on θ + ℓ.
type TaskLoss interface {
	// Augment adds ℓ(·, gold) to the potentials of example b.
	Augment(θ *Potentials, b int, gold Gold)
	// Dot returns ⟨v, ℓ(·, gold)⟩ for example b of v, in float64.
	Dot(v *Marginals, b int, gold Gold) float64
	// Loss returns ℓ(y, gold). gold must be fully known.
	Loss(y []int32, gold Gold) float64
}

// Constraints forbid outputs. Every oracle respects them.
type Constraints interface {
	// Apply writes −∞ over the forbidden entries.
	Apply(θ *Potentials)
	// AllowsSome reports whether the constraints allow some output that agrees with the gold output of example i of d.
	AllowsSome(d *Dataset, i int) bool
}

// Evaluator compares outputs with gold ones.
type Evaluator interface {
	// Add compares an output y of example i of d with its gold output.
	Add(d *Dataset, i int, y []int32)
	// Metrics returns the metrics of all outputs added so far.
	Metrics() Metrics
	// Table returns them as a table of several lines, for people to read.
	Table() string
}
