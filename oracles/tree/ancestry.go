package tree

import "github.com/dsp-go/dsp/structured/sys/vec"

// ancestry answers whether a token of a tree descends from another.
type ancestry struct {
	enter, exit    []int32 // [n+1] preorder numbers of a token and of its last descendant
	child, sibling []int32 // [n+1]
}

func (g *ancestry) resize(n int) {
	for _, s := range []*[]int32{&g.enter, &g.exit, &g.child, &g.sibling} {
		*s = vec.Grow(*s, n+1)
	}
}

// walk numbers the tokens of a tree in preorder, as descends requires.
func (g *ancestry) walk(heads []int32) {
	for i := range g.child {
		g.child[i] = -1
	}
	for d, h := range heads {
		g.sibling[d+1] = g.child[h]
		g.child[h] = int32(d + 1)
	}
	at, time := g.child[0], int32(0)
	g.enter[at] = 0
	for {
		if down := g.child[at]; down >= 0 {
			time++
			g.enter[down] = time
			at = down
			continue
		}
		for {
			g.exit[at] = time
			if next := g.sibling[at]; next >= 0 && heads[at-1] != 0 {
				time++
				g.enter[next] = time
				at = next
				break
			}
			if heads[at-1] == 0 {
				return
			}
			at = heads[at-1]
		}
	}
}

// descends reports whether token h descends from token d or equals it.
func (g *ancestry) descends(h, d int) bool {
	return g.enter[h+1] >= g.enter[d+1] && g.enter[h+1] <= g.exit[d+1]
}
