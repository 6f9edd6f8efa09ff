package vec

func choose() *loops { return &plain }
