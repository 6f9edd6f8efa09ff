// Package encoders reads pretrained text encoders from folders as Hugging Face lays them out, and computes the hidden
// states of pieces of words.
//
// Open reads config.json and model.safetensors. An Encoder is a network of the package graph, with parameters named as
// in the file; a Worker runs it forward with weights that stay the same:
//
//	e, err := encoders.Open("bert-base-uncased")
//	layers, err := e.Layers("mean4")           // or "last", "mean12", "0" (embeddings), "6"
//	w := e.NewWorker(layers, encoders.Float32) // one per goroutine
//	err = w.Encode(ids, offsets, rows)         // pieces of sentences, special tokens included, end to end
//
// Sequence i has pieces ids[offsets[i]:offsets[i+1]], at most e.Positions() of them, and the row of piece t is
// rows[t*e.Width():(t+1)*e.Width()]. There is no padding. A sequence gets the same bits whatever it shares a call with.
// Calls with a few thousand pieces or more are fastest; sequences need not be sorted.
package encoders
