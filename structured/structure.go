package structured

// Structure is what the outputs of a task are made of, and which parts of the potentials an output collects its score
// from. An output is a list of numbers: a chain's are its labels, a tree's the heads of its words and their relations.
type Structure interface {
	// Name names the structure: "chain".
	Name() string

	// Score returns ⟨θ, 1_y⟩ for an output y of example b, in float64.
	Score(θ *Potentials, b int, y []int32) float64
	// Add adds c·1_y to example b of u.
	Add(u *Marginals, b int, y []int32, c float32)
	// Raise adds c to what scores each number of y alone, without what scores several together.
	Raise(θ *Potentials, b int, y []int32, c float32)
	// Restrict forbids example b every output that contradicts its gold output.
	Restrict(θ *Potentials, b int, gold Gold)

	// LeastRisk makes θ potentials whose best output has the least expected Hamming loss under marginals u.
	LeastRisk(u *Marginals, θ *Potentials)
	// LogOutputs returns the mean over the examples of d of the logarithm of how many outputs potentials of that form can choose from.
	LogOutputs(d *Dataset, form Form) float64
	// Hamming returns the task loss that counts the wrong numbers of an output.
	Hamming() TaskLoss
	// Each calls visit with every output of example b, forbidden or not, in the order in which oracles settle ties. Visit must not
	// keep y. There may be very many: it serves tests, and checks of small instances.
	Each(θ *Potentials, b int, visit func(y []int32))
}

// Gold is what is known of an example's right output. Where a number of the output is not known for sure it is −1−k, and
// Sets[k] lists in order the numbers one of which is right; nil: any.
type Gold struct {
	Output []int32
	Sets   [][]int32
}

// Partial reports whether some number of the output is not known for sure.
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

// Possible returns the numbers, in order, one of which is right at place t; nil: any. One holds the answer where it is a
// single number.
func (g Gold) Possible(t int, one *[1]int32) []int32 {
	l := g.Output[t]
	if l < 0 {
		return g.Sets[-1-l]
	}
	one[0] = l
	return one[:]
}

// TaskLoss is a task loss ℓ(y, y*) ≥ 0 that is linear in 1_y, so that a loss-augmented oracle is an oracle on θ + ℓ.
type TaskLoss interface {
	// Augment adds ℓ(·, gold) to the potentials of example b.
	Augment(θ *Potentials, b int, gold Gold)
	// Dot returns ⟨v, ℓ(·, gold)⟩ for example b of v, in float64.
	Dot(v *Marginals, b int, gold Gold) float64
	// Loss returns ℓ(y, gold) for a gold output that is known throughout.
	Loss(y, gold []int32) float64
}

// Constraints forbid outputs. Every oracle honours what they write.
type Constraints interface {
	// Apply writes −∞ over what is forbidden.
	Apply(θ *Potentials)
	// AllowsSome reports whether an output is allowed that agrees with the gold output of example i of d.
	AllowsSome(d *Dataset, i int) bool
}

// Evaluator compares outputs with gold ones.
type Evaluator interface {
	// Add compares an output y of example i of d with its gold output.
	Add(d *Dataset, i int, y []int32)
	// Metrics returns the metrics of all that was added.
	Metrics() Metrics
	// Table shows them to people, in several lines.
	Table() string
}
