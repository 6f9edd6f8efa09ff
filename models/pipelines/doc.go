// Package pipelines learns the way from raw text to dependency trees out of a treebank, in stages: characters (where
// tokens and sentences end), words (those of tokens that are written as one), UPOS, XPOS, FEATS and LEMMA, and trees.
//
// A stage is an ordinary model that is trained on an ordinary file; a pipeline is a folder of them, and a file that
// lists them. Every stage learns from what the stages before it predict for sentences that they were not trained on, so
// that it knows their mistakes.
package pipelines
