package arcs_test

import (
	"fmt"

	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/templates"
)

func Example() {
	template, err := arcs.Parse("A* hp,dp=%x[h,upos],%x[d,upos]\nL dw=%lower[d,word],%dir\n", "my.template")
	if err != nil {
		fmt.Println(err)
		return
	}
	data := arcs.Columns{
		Name:  "two.conllu",
		Names: []string{"word", "upos"},
		Cells: [][]string{{"She", "sleeps", "We", "sleep"}, {"PRON", "VERB", "PRON", "VERB"}},
	}
	offsets := []int{0, 2, 4}
	heads := []int32{1, 1, 1, 1} // the second token of each sentence is its root
	dictionary, err := template.Fit(data, offsets, heads, templates.Options{MinCount: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	extractor := arcs.NewExtractor(template, dictionary)
	if err := extractor.Open(data); err != nil {
		fmt.Println(err)
		return
	}
	var rows arcs.Rows
	if err := extractor.Extract(0, 2, &rows, nil); err != nil {
		fmt.Println(err)
		return
	}
	for d := range 2 {
		for h := range 2 {
			row := d*2 + h
			fmt.Println("row", row, "has attributes", rows.Index[rows.Offsets[row]:rows.Offsets[row+1]])
		}
	}
	fmt.Println(dictionary.Arc.Len(), "attributes for arcs,", dictionary.Label.Len(), "for labels")
	// Output:
	// row 0 has attributes []
	// row 1 has attributes [2 3]
	// row 2 has attributes []
	// row 3 has attributes [1 0]
	// 4 attributes for arcs, 0 for labels
}
