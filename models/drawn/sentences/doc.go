// Package sentences generates training data that anyone can reproduce from a seed: sentences with entity tags, drawn
// from a small grammar and made-up names. It also holds the list of common English words.
package sentences
