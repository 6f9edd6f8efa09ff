// Package arcs makes sparse attributes of the arcs of dependency trees from the columns of a treebank, as a template says.
// The language is that of package features, with places at both ends of an arc:
//
//	# a comment
//	A  hp,dp=%x[h,upos],%x[d,upos]
//	A* hw=%lower[h,word]
//	AL hp,b,dp=%x[h,upos],%x[between,upos],%x[d,upos]
//	L  case=%key:Case[d,feats?],%dir
//
// A line that begins with A makes an attribute that feeds the score of the arc; one that begins with L, the scores of the
// relations that the arc may have; AL, both. It is named as the line reads when its macros are replaced by what they stand
// for: "hp,dp=VERB,NOUN". A star after the letters makes a second attribute of the line, with the direction and the class
// of the distance: "hp,dp=VERB,NOUN/right2". Attributes of different lines differ, however they are spelt. Blank lines and
// lines that begin with # are skipped, and %% is a percent sign.
//
// A macro %x[place,column] is a cell of a token, in a column by its name. Places are h, the head, d, the dependent, and their
// neighbours: h-1 is the token before the head, d+2 the second after the dependent. The root stands before the first token.
// Beyond the ends of a sentence a cell is _B-1, _B-2, … before it, and so the root's is _B-1, and _B+1, _B+2, … after it. A
// column with a question mark is optional: data without it leaves the line out.
//
// A cell that is _ says nothing, but for the column word: where a macro stands for nothing, the line makes no attribute.
//
// In place of x stand the functions of package features, from lower and shape to suffix3, joined by dots and applied from
// left to right; and key:NAME, the value of NAME in a list such as Case=Nom|Number=Sing, which may be missing.
//
// Other macros look at the tokens strictly between head and dependent, or at the arc itself:
//
//	%x[between,upos]            each distinct value there, an attribute for each; at most one macro of a line
//	%set[between,upos]          the set of values there, as one value
//	%count:VERB[between,upos]   how many tokens there have the value VERB: 0, 1, 2 or 3+
//	%dir                        right, where the dependent stands to the right of its head, or left
//	%dist                       the distance: 1, 2, 3, 4, 5-6, 7-10 or 11+
//
// Inside, an attribute is a 64-bit hash of what its macros stand for. Fit numbers those that occur often enough on the gold
// arcs of training data, so that most arcs that are not gold have few attributes.
package arcs
