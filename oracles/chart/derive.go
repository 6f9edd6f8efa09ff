package chart

// derive writes the output of a derivation, whose terms are chosen in each cell that has several.
func (c *Chart) derive(in *inside, choose func(cell int) int, y []int32) {
	in.stack = append(in.stack[:0], c.root())
	for len(in.stack) > 0 {
		cell := in.stack[len(in.stack)-1]
		in.stack = in.stack[:len(in.stack)-1]
		g, q := c.at(cell)
		t, k := &c.ranges[g.from], 0
		if g.terms > 1 {
			t, k = c.term(g, choose(cell))
		}
		t.say(q, k, y)
		for _, part := range [2]int{t.First.of(q, k), t.Then.of(q, k)} {
			if part > 0 {
				in.stack = append(in.stack, part)
			}
		}
	}
}

// say writes what a term says of the output.
func (t *Terms) say(q, k int, y []int32) {
	if place := t.Place.of(q, k); place > 0 {
		y[place-1] = int32(t.Number.of(q, k))
	}
}
