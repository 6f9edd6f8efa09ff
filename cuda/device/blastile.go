package device

import "fmt"

// tile is the part of C that one block of gemm.cu computes.
type tile struct{ m, n int }

var tiles = []tile{{128, 128}, {64, 64}, {128, 32}}

// tileDepth is gemm.cuh's DEPTH.
const tileDepth = 16

// kernel returns the name of the kernel, which with rows reads A's rows from a larger matrix.
func (t tile) kernel(tf32, rows bool) string {
	name := "gemm_"
	if rows {
		name += "rows_"
	}
	if tf32 {
		name += "tf32_"
	}
	return fmt.Sprintf("%s%dx%d", name, t.m, t.n)
}

func (t tile) count(m, n int) int { return CeilDiv(m, t.m) * CeilDiv(n, t.n) }

func (t tile) threads(tf32 bool) int {
	switch t {
	case tile{128, 128}:
		return 256
	case tile{64, 64}:
		if !tf32 {
			return 64
		}
	}
	return 128
}

// shared returns the bytes of two pairs of tiles whose rows are padded against bank conflicts.
func (t tile) shared(tf32 bool) int {
	pad := 4
	if tf32 {
		pad = 8
	}
	return 2 * tileDepth * (t.m + pad + t.n + pad) * 4
}

// depthOf returns how much of k each of parts parts takes, in whole tiles.
func depthOf(k, parts int) int { return max(1, CeilDiv(CeilDiv(k, parts), tileDepth)) * tileDepth }

// choose returns the tile and the number of parts of k that are fastest in a rough model of an H200. It depends on the
// shape only, so results do not depend on the device.
func choose(m, n, k, batch int, tf32 bool) (best tile, parts int) {
	const (
		multiprocessors = 132
		most            = 64   // parts
		least           = 128  // depth of a part
		bandwidth       = 4e12 // bytes per second
		launch          = 3e-6 // seconds to add up the parts
		start           = 24   // overhead of a block, in units of depth
		busy            = 8    // warps that keep a multiprocessor busy
	)
	rate := 230e9 // fused multiply-adds per second of a multiprocessor
	if tf32 {
		rate = 1e12
	}
	shortest := 0.
	for _, t := range tiles {
		for p := 1; p <= max(1, min(most, k/least, partsScratch/(m*n*batch))); p++ {
			depth := depthOf(k, p)
			if CeilDiv(k, depth) != max(1, p) && k > 0 {
				continue // fewer parts give the same depth
			}
			each := CeilDiv(t.count(m, n)*p*batch, multiprocessors)
			speed := rate * t.efficiency() * min(1, float64(each*t.threads(tf32))/(32*busy))
			seconds := float64(each) * float64(t.m*t.n) * float64(depth+start) / speed
			if p > 1 {
				seconds += launch + float64(p*m*n*batch)*8/bandwidth
			}
			if shortest == 0 || seconds < shortest {
				best, parts, shortest = t, p, seconds
			}
		}
	}
	return best, parts
}

// efficiency estimates the fraction of peak arithmetic that a tile reaches: small tiles load more data per operation.
func (t tile) efficiency() float64 {
	switch t {
	case tile{128, 128}:
		return 0.8
	case tile{64, 64}:
		return 0.7
	}
	return 0.55
}
