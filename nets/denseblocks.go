package nets

import "github.com/dsp-go/dsp/structured"

// DenseBlock is a block of weights D [Dim×Width] that multiplies the dense inputs z_t [Dim] of positions
// (Dataset.ReadFeatures): weight (d, j) is w[Offset + d·Width + j], and the products z_t D are added to potentials of
// one part. Where a row of the part is a position, these are its own potentials. A row that pairs two positions takes
// the products of one of them, or the columns of them that belong to the distance between both.
type DenseBlock struct {
	Part       int // of the potentials
	Offset     int // in w
	Dim, Width int
	Bias       int // offset in w of Width weights that are added to the product; −1: there are none
	// offset in w of Width weights that are added at an example's first position, and of as many behind them for its
	// last; −1: there are none
	Ends int
}

// DenseScorer is an affine Scorer some of whose weights multiply dense inputs. All blocks read the same rows, so that
// Σ_t z_t z_tᵀ over the positions of the data serves all of them.
type DenseScorer interface {
	Scorer
	// DenseBlocks lists the blocks in the order of their offsets. They do not overlap.
	DenseBlocks() []DenseBlock
}

// DenseBlocks returns the blocks of a scorer's weights that multiply dense inputs of positions, nil if it has none.
func DenseBlocks(s Scorer) []DenseBlock {
	if d, ok := s.(DenseScorer); ok {
		return d.DenseBlocks()
	}
	return nil
}

// DenseBlocks implements DenseScorer: a network has blocks only if it is linear in its dense inputs.
func (n *Net) DenseBlocks() []DenseBlock {
	var blocks []DenseBlock
	for k, sum := range n.sums {
		if sum.inputs == positionFeatures {
			a, bias, ends := sum.weights, -1, -1
			width := a.Len() / a.Shape[0]
			if sum.bias.Shape != nil && sum.bias.Len() == width {
				bias = sum.bias.Offset
			}
			if sum.ends.Shape != nil {
				ends = sum.ends.Offset
			}
			blocks = append(blocks, DenseBlock{Part: k, Offset: a.Offset, Dim: a.Shape[0], Width: width, Bias: bias, Ends: ends})
		}
	}
	return blocks
}

// TiedBlock is a block of weights that are the numbers of a tied part of the potentials: weight Offset + j is its j-th
// number.
type TiedBlock struct {
	Part   int // of the potentials
	Offset int // in w
	Width  int
}

// TiedScorer is an affine Scorer that lists the blocks of its weights that are tied parts.
type TiedScorer interface {
	Scorer
	TiedBlocks() []TiedBlock
}

// TiedBlocks returns the blocks of a scorer's weights that are tied parts, nil if it lists none.
func TiedBlocks(s Scorer) []TiedBlock {
	if d, ok := s.(TiedScorer); ok {
		return d.TiedBlocks()
	}
	return nil
}

// TiedBlocks implements TiedScorer: a network has blocks only if it is linear in its dense inputs.
func (n *Net) TiedBlocks() []TiedBlock {
	var blocks []TiedBlock
	for k, sum := range n.sums {
		if shape := n.Form().Parts[k]; shape.Rows == structured.Tied && sum.inputs == noInputs && sum.bias.Shape != nil &&
			sum.bias.Len() == shape.Width {
			blocks = append(blocks, TiedBlock{Part: k, Offset: sum.bias.Offset, Width: shape.Width})
		}
	}
	return blocks
}
