package cudanets

import (
	"math/bits"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Capacity bounds a batch: its chains, its positions, the positions of one chain, the rows of any other table, and the characters of its
// words. It depends only on
// the batch and the data, so that a batch gives the same bits whatever was evaluated before.
type Capacity struct{ chains, rows, longest, others, chars int }

// sizeOf returns the smallest capacity that holds the examples.
func (data *Data) sizeOf(examples []int) (n Capacity) {
	n.chains = len(examples)
	for _, i := range examples {
		t := data.Set.Length(i)
		n.rows, n.longest = n.rows+t, max(n.longest, t)
		n.chars += data.characters(data.Set.Offsets[i], data.Set.Offsets[i+1])
	}
	for _, table := range data.Set.Tables {
		rows := 0
		for _, i := range examples {
			rows += table.Offsets[i+1] - table.Offsets[i]
		}
		n.others = max(n.others, rows)
	}
	return n
}

// characters returns how many characters the words of positions lo to hi-1 have.
func (data *Data) characters(lo, hi int) int {
	if data.Set.Characters == nil {
		return 0
	}
	return data.Set.Characters.Rows(lo, hi)
}

// StepCapacity returns the capacity for a step on the examples: sizeOf, rounded up so that steps of similar size share memory and graphs.
func (data *Data) StepCapacity(examples []int) Capacity {
	n := data.sizeOf(examples)
	n.chains, n.rows, n.longest = roundedUp(n.chains), graph.Bucket(n.rows), roundedUp(n.longest)
	if n.others > 0 {
		n.others = graph.Bucket(n.others)
	}
	if data.Set.Characters != nil {
		n.chars = graph.CharBucket(n.chars)
	}
	return n
}

// roundedUp returns the smallest power of two that is at least n.
func roundedUp(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }

// PassPositions is the most positions that a full pass evaluates at once. passNumbers bounds the size of each part of their marginals, in
// which a tied part has one row per example.
const (
	PassPositions = 1 << 16
	passNumbers   = 1 << 28
)

// PassCapacity returns the capacity of a full pass over the data for potentials of the given form. Its batches are consecutive examples
// with up to that many positions in total, or a single longer example.
func (data *Data) PassCapacity(positions int, form structured.Form) Capacity {
	widest, others := 1, passNumbers
	for _, part := range form.Parts {
		widest = max(widest, part.Width)
		switch limit := max(1, passNumbers/max(1, part.Width)); part.Rows {
		case structured.Tied, structured.Examples:
		case structured.Positions, structured.Steps, structured.Sources:
			positions = min(positions, limit)
		default:
			others = min(others, limit)
		}
	}
	chains := max(1, passNumbers/widest)
	var most Capacity
	for left := data.All(); len(left) > 0; {
		now := data.sizeOf(left[:1])
		for now.chains < len(left) {
			next := data.sizeOf(left[now.chains : now.chains+1])
			if now.rows+next.rows > positions || now.chains == chains || now.others+next.others > others {
				break
			}
			now = Capacity{now.chains + 1, now.rows + next.rows, max(now.longest, next.longest), now.others + next.others, now.chars + next.chars}
		}
		left = left[now.chains:]
		most = Capacity{max(most.chains, now.chains), max(most.rows, now.rows), max(most.longest, now.longest), max(most.others, now.others), max(most.chars, now.chars)}
	}
	most.rows = graph.Bucket(most.rows)
	if most.others > 0 {
		most.others = graph.Bucket(most.others)
	}
	if data.Set.Characters != nil {
		most.chars = graph.CharBucket(most.chars)
	}
	return most
}

// Fit returns how many of the first examples fit a batch of this capacity.
func (data *Data) Fit(examples []int, c Capacity) int {
	rows, others, chars := 0, 0, 0
	for k := range examples {
		n := data.sizeOf(examples[k : k+1])
		rows, others, chars = rows+n.rows, others+n.others, chars+n.chars
		if k == c.chains || rows > c.rows || others > c.others || chars > c.chars {
			return k
		}
	}
	return len(examples)
}

// All returns all examples of the data, in order.
func (data *Data) All() []int {
	all := make([]int, data.Set.Len())
	for i := range all {
		all[i] = i
	}
	return all
}
