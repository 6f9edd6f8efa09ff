package engine

import "github.com/dsp-go/dsp/structured"

// A pass cuts the data into shards and deals the shards to lanes. Both depend on the data alone. Each lane sums its own
// shards in order, and the lanes are summed in order, so the sums have the same bits whatever the number of threads.
// The same holds for the shards of a step's batch.
const (
	passLanes      = 16      // most lanes; with dense inputs each has a gradient as large as the weights
	laneWeights    = 1 << 28 // entries of the gradients of all lanes, if two lanes have fewer
	shardPositions = 512     // most positions in a full pass's shard, unless a single example has more
	shardRows      = 4096    // most rows there of a table, such as one of all pairs of words, unless a single example has more
)

// StepExamples is how many examples a step's shard has.
const StepExamples = 8

// layout is how passes deal the examples of a data set.
type layout struct {
	all    []int   // examples
	shards [][]int // examples of each shard of a full pass
	lanes  int     // most lanes that the shards of a pass, or of a step, are dealt to
}

// newLayout returns the layout of a data set for scorers of so many weights; with sparse inputs lanes have no
// gradients.
func newLayout(data *structured.Dataset, weights int, sparse bool) layout {
	all := make([]int, data.Len())
	for i := range all {
		all[i] = i
	}
	lanes := passLanes
	if !sparse {
		lanes = min(passLanes, max(2, laneWeights/max(1, weights)))
	}
	return layout{all, cutIntoShards(data, all), lanes}
}

// cutIntoShards cuts examples into runs of at most shardPositions positions each, and of at most shardRows rows of
// every table; a longer example is a run on its own.
func cutIntoShards(data *structured.Dataset, examples []int) [][]int {
	var cut [][]int
	lo, size := 0, make([]int, 1+len(data.Tables)) // of positions, and of the tables' rows
	for k, i := range examples {
		if k > lo && !fits(data, i, size) {
			cut = append(cut, examples[lo:k])
			lo = k
			clear(size)
		}
		size[0] += data.Length(i)
		for j, t := range data.Tables {
			size[1+j] += t.Offsets[i+1] - t.Offsets[i]
		}
	}
	if lo < len(examples) {
		cut = append(cut, examples[lo:])
	}
	return cut
}

// fits reports whether example i fits into a shard of some size.
func fits(data *structured.Dataset, i int, size []int) bool {
	for j, t := range data.Tables {
		if size[1+j]+t.Offsets[i+1]-t.Offsets[i] > shardRows {
			return false
		}
	}
	return size[0]+data.Length(i) <= shardPositions
}
