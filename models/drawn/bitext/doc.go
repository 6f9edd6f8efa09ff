// Package bitext draws sentence pairs with word alignments from a small grammar and a lexicon of made-up words in two
// made-up languages. Words are ambiguous, take endings, keep company with words of the same topic, and translate to one
// word, to two or to none. The target language adds articles and auxiliaries, puts many adjectives after their noun and
// many verbs at the end, and some translations are free. Names, numbers and some other words are spelt alike.
package bitext
