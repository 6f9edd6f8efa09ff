package nets

// DenseBlock is a block of weights D [Dim×Width] that multiplies the dense inputs z_t [Dim] of positions (Dataset.ReadFeatures): weight
// (d, j) is w[Offset + d·Width + j], and the products z_t D are added to potentials of one part. Where a row of the part is a position, these
// are its own potentials. A row that pairs two positions takes the products of one of them, or the columns of them that belong to the
// distance between both.
type DenseBlock struct {
	Part       int // of the potentials
	Offset     int // in w
	Dim, Width int
}

// DenseScorer is an affine Scorer some of whose weights multiply dense inputs. All blocks read the same rows, so that Σ_t z_t z_tᵀ over the
// positions of the data serves all of them.
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
			a := sum.weights
			blocks = append(blocks, DenseBlock{Part: k, Offset: a.Offset, Dim: a.Shape[0], Width: a.Len() / a.Shape[0]})
		}
	}
	return blocks
}
