// Package wordvectors reads vectors of words that were trained elsewhere: GloVe's text, the text and the binary files
// of word2vec, and fastText's .vec.
package wordvectors
