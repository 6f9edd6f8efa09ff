package graphs

import (
	"math/rand/v2"
	"testing"
)

// Small draws all that the contract is to be checked on: any number of labels and types, none and several examples,
// variables and edges.
func TestSmallVaries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	labels, types, variables, edges := map[int]int{}, map[int32]int{}, map[int]int{}, map[int]int{}
	for range 400 {
		θ := Pairwise{Edges: Typed}.Small(r)
		labels[θ.Parts[0].Width]++
		for b := range θ.Len() {
			variables[θ.Outputs[b+1]-θ.Outputs[b]]++
			edges[len(θ.Graphs[b].Ends)]++
			for _, k := range θ.Graphs[b].Types {
				types[k]++
			}
		}
	}
	if len(labels) != 4 || len(types) != 3 || len(variables) != 6 || len(edges) < 6 || labels[4] == 0 || types[2] == 0 ||
		variables[5] == 0 || edges[5] == 0 {
		t.Errorf("labels %v, types %v, variables %v, edges %v", labels, types, variables, edges)
	}
	if cuts := (Pairwise{By: Cut}).Small(r); cuts.Parts[0].Width != 2 {
		t.Errorf("cuts of %d labels", cuts.Parts[0].Width)
	}
}
