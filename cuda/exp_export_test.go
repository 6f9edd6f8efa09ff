package cuda

// Declined tells which chains of the last call of Exp float32 did not hold.
func (o *Oracle) Declined(chains int) []int32 {
	x := make([]int32, chains)
	Download(o.d, x, o.exp.declined)
	return x
}

// Oracle returns the oracle that works on what the host's is given.
func (c *ChainOracle) Oracle() *Oracle { return c.o }
