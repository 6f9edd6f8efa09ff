package resident

import (
	"math/bits"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Capacity bounds a batch: its chains, its positions, the positions of one chain, the rows of any other table, and the
// characters of its words. It depends only on the batch, the data and the scorer, so that a batch gives the same bits
// whatever was evaluated before.
type Capacity struct{ Chains, Rows, Longest, Others, Chars int }

// sizeOf returns the smallest capacity that holds the examples.
func (data *Data) sizeOf(examples []int) (n Capacity) {
	n.Chains = len(examples)
	for _, i := range examples {
		t := data.Set.Length(i)
		n.Rows, n.Longest = n.Rows+t, max(n.Longest, t)
		n.Chars += data.CharactersBetween(data.Set.Offsets[i], data.Set.Offsets[i+1])
	}
	for _, table := range data.Set.Tables {
		rows := 0
		for _, i := range examples {
			rows += table.Offsets[i+1] - table.Offsets[i]
		}
		n.Others = max(n.Others, rows)
	}
	return n
}

// CharactersBetween returns how many characters the words of positions lo to hi-1 have.
func (data *Data) CharactersBetween(lo, hi int) int {
	if data.Set.Characters == nil {
		return 0
	}
	return data.Set.Characters.Rows(lo, hi)
}

// StepCapacity returns the capacity for a step on the examples: sizeOf, rounded up so that steps of similar size share
// memory and graphs.
func (data *Data) StepCapacity(examples []int) Capacity {
	n := data.sizeOf(examples)
	n.Chains, n.Rows, n.Longest = roundedUp(n.Chains), graph.Bucket(n.Rows), roundedUp(n.Longest)
	if len(data.Set.Tables) > 0 {
		n.Others = graph.Bucket(n.Others)
	}
	if data.Set.Characters != nil {
		n.Chars = graph.CharBucket(n.Chars)
	}
	return n
}

// roundedUp returns the smallest power of two that is at least n.
func roundedUp(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }

// PassPositions is the most positions that a full pass evaluates at once. passNumbers bounds the size of each part of
// their marginals, in which a tied part has one row per example, and of each array of a network.
const (
	PassPositions = 1 << 16
	passNumbers   = 1 << 28
)

// Widths are the most numbers that one position, one row of another table and one character have in any array of a
// network; 0 for none.
type Widths struct{ Row, Other, Char int }

// PassCapacity returns the capacity of a full pass over the data for potentials of the given form from a network of the
// given widths. Its batches are consecutive examples with up to that many positions in total, or a single longer
// example.
func (data *Data) PassCapacity(positions int, form structured.Form, w Widths) Capacity {
	positions = min(positions, max(1, passNumbers/max(1, w.Row)))
	widest, others, chars := 1, max(1, passNumbers/max(1, w.Other)), max(1, passNumbers/max(1, w.Char))
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
		for now.Chains < len(left) {
			next := data.sizeOf(left[now.Chains : now.Chains+1])
			if now.Rows+next.Rows > positions || now.Chains == chains || now.Others+next.Others > others ||
				now.Chars+next.Chars > chars {
				break
			}
			now = Capacity{now.Chains + 1, now.Rows + next.Rows, max(now.Longest, next.Longest), now.Others + next.Others,
				now.Chars + next.Chars}
		}
		left = left[now.Chains:]
		most = Capacity{max(most.Chains, now.Chains), max(most.Rows, now.Rows), max(most.Longest, now.Longest),
			max(most.Others, now.Others), max(most.Chars, now.Chars)}
	}
	most.Rows = graph.Bucket(most.Rows)
	if len(data.Set.Tables) > 0 {
		most.Others = graph.Bucket(most.Others)
	}
	if data.Set.Characters != nil {
		most.Chars = graph.CharBucket(most.Chars)
	}
	return most
}

// Fit returns how many of the first examples fit a batch of this capacity.
func (data *Data) Fit(examples []int, c Capacity) int {
	rows, others, chars := 0, 0, 0
	for k := range examples {
		n := data.sizeOf(examples[k : k+1])
		rows, others, chars = rows+n.Rows, others+n.Others, chars+n.Chars
		if k == c.Chains || rows > c.Rows || others > c.Others || chars > c.Chars {
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
