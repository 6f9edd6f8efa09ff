// Package pairs turns sentence pairs into sparse attributes of word pairs and of unmatched source words, for word
// alignment. It also counts how often words occur together, which needs sentence pairs but no links. A template lists
// the attributes (package templates):
//
//	# a comment
//	P dice,position
//	P source,target
//	U source-frequency,best
//
// A line that begins with P makes an attribute of every source word with every target word. One that begins with U
// makes an attribute of every source word, for the score of leaving it unmatched. After the letter come properties,
// joined by commas, and the attribute's name is the line with their values: "dice,position=0.5+ 0.05+". If a property
// has no value, the line makes no attribute.
//
// Words, in lower case; beyond the ends of a sentence they are _B-1 and _B+1:
//
//	source, target                  the words
//	source-1, source+1              their neighbours (target-1 and target+1 likewise)
//
// Association, by the Dice coefficient of two words, 2·c(s,t) / (c(s)+c(t)), where c counts sentence pairs (Dice 1945).
// A sentence pair that was counted does not count for itself:
//
//	dice                            the words' coefficient, in classes
//	rank                            the target word's rank for the source word among the words of its sentence, by dice
//	reverse-rank                    the source word's rank for the target word
//	lead                            dice less that of the best competitor for either word
//	before, after                   dice of the two words before these, and of the two after
//	crossed                         the larger dice of a neighbour on one side with the opposite neighbour on the
//	                                other side
//	best, best-mutual               (U) the source word's largest dice; whether it is also the largest of that target
//	                                word
//
// The rest:
//
//	position                        |(i+½)/n − (j+½)/m|, in classes
//	side                            whether the target word comes earlier or later than the source word, or about there
//	spelling                        1 − edit distance / length of the longer word (Levenshtein 1966), in classes
//	prefix                          number of letters that both words begin with
//	kinds                           whether each is a word, a number or punctuation
//	copies                          how often each occurs in its sentence
//	source-frequency                class of the number of sentence pairs with the word (target-frequency likewise)
//	source-kind                     (U) word, number or punctuation
package pairs
