package models

import (
	"context"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
)

// BenchmarkEvaluate labels drawn words with the default network, on one thread.
func BenchmarkEvaluate(b *testing.B) {
	c := Default()
	c.Examples = settings.Sizes{1, 1, 1000}
	data, err := ReadData(&c)
	if err != nil {
		b.Fatal(err)
	}
	m, err := NewModel(c, data)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Evaluate(context.Background(), data.Test, false, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(data.Test.Positions()*b.N)/b.Elapsed().Seconds(), "letters/s")
	b.ReportAllocs()
}
