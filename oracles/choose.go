package oracles

func choose() *kernels { return &plain }
