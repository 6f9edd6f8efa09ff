package structured

// Alphabet numbers names (labels, words) from 0 in the order in which they were first added. The zero
// value is empty.
type Alphabet struct {
	names []string
	index map[string]int32
}

// NewAlphabet returns an alphabet of the names, numbered as given; repeated names keep their first number.
func NewAlphabet(names ...string) *Alphabet {
	a := &Alphabet{index: make(map[string]int32, len(names))}
	for _, n := range names {
		a.Add(n)
	}
	return a
}

// Add returns the number of name, giving it the next one if it is new.
func (a *Alphabet) Add(name string) int32 {
	if id, ok := a.index[name]; ok {
		return id
	}
	if a.index == nil {
		a.index = map[string]int32{}
	}
	id := int32(len(a.names))
	a.names = append(a.names, name)
	a.index[name] = id
	return id
}

// Index returns the number of name, or -1 if the alphabet lacks it.
func (a *Alphabet) Index(name string) int32 {
	if id, ok := a.index[name]; ok {
		return id
	}
	return -1
}

// Name returns the name with number id.
func (a *Alphabet) Name(id int32) string { return a.names[id] }

// Names returns all names in order; the caller must not change them.
func (a *Alphabet) Names() []string { return a.names }

// Len returns how many names there are.
func (a *Alphabet) Len() int { return len(a.names) }
