package nets

// Network is a Scorer whose weights have names and first values: a Net, or the linear scorer of sparse inputs.
type Network interface {
	Scorer
	// Name names the kind of network.
	Name() string
	// Layout says where each parameter lives in w.
	Layout() Layout
	// Init draws initial weights.
	Init(seed uint64) []float32
}

var _ Network = (*Net)(nil)
