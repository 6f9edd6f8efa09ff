package branching

// memory remembers what is known of subtrees by the states of the variables that they depend on. It has a fixed number
// of slots; of those that a subtree may go to, the one that took the least work is given up.
type memory struct {
	slots []slot
	mask  uint64
}

type slot struct {
	key   key
	bound int64 // of the best value, or the value itself
	node  int32 // 1 + the variable, 0 for an empty slot
	work  int32 // nodes that it took
	exact bool
}

// key numbers the states of a context. ok is false where there are more than it can hold; then nothing is remembered.
type key struct {
	low, high uint64
	ok        bool
}

const (
	slotBytes = 48
	ways      = 4
)

// newMemory returns a memory with a power of 2 of slots.
func newMemory(slots int) *memory {
	return &memory{slots: make([]slot, slots), mask: uint64(slots-1) &^ (ways - 1)}
}

// key returns the number of the current states of the context of i.
func (s *search) key(i int) key {
	var k key
	size := 1.0 // of the numbers in low
	for _, v := range s.context[i] {
		n := s.buckets.states[v]
		if size *= float64(n); size > 1<<62 {
			if k.high != 0 || k.ok {
				return key{}
			}
			k.high, k.low, size, k.ok = k.low, 0, float64(n), true
		}
		k.low = k.low*uint64(n) + uint64(s.states[v])
	}
	k.ok = true
	return k
}

func (m *memory) at(i int, k key) []slot {
	h := k.low*0x9e3779b97f4a7c15 ^ (k.high+uint64(i)*0xd1342543de82ef95)*0xbf58476d1ce4e5b9
	h ^= h >> 32
	h *= 0x94d049bb133111eb
	h ^= h >> 29
	first := h & m.mask
	return m.slots[first : first+ways]
}

// find returns what is known of a subtree, nil if nothing is.
func (m *memory) find(i int, k key) *slot {
	if !k.ok {
		return nil
	}
	set := m.at(i, k)
	for w := range set {
		if set[w].node == int32(i+1) && set[w].key == k {
			return &set[w]
		}
	}
	return nil
}

// keep remembers a bound, or the value, of a subtree.
func (m *memory) keep(i int, k key, bound int64, exact bool, work int) {
	if !k.ok {
		return
	}
	set := m.at(i, k)
	into := &set[0]
	for w := range set {
		if set[w].node == int32(i+1) && set[w].key == k {
			into = &set[w]
			work += int(into.work)
			break
		}
		if set[w].work < into.work || set[w].node == 0 && into.node != 0 {
			into = &set[w]
		}
	}
	*into = slot{key: k, bound: bound, node: int32(i + 1), work: int32(min(work, 1<<30)), exact: exact}
}
