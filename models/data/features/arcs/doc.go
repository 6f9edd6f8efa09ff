// Package arcs turns the columns of a treebank into sparse attributes of the arcs of dependency trees, as a template
// describes (package templates), with places at both ends of an arc:
//
//	# a comment
//	A  hp,dp=%x[h,upos],%x[d,upos]
//	A* hw=%lower[h,word]
//	AL hp,b,dp=%x[h,upos],%x[between,upos],%x[d,upos]
//	L  case=%key:Case[d,feats?],%dir
//
// A line that begins with A makes an attribute for the score of the arc. One that begins with L makes an attribute for
// the scores of the arc's possible relations, and AL for both. The attribute's name is the line with its macros
// replaced by their values: "hp,dp=VERB,NOUN". A star after the letters makes a second attribute of the line, with the
// direction and the distance class of the arc: "hp,dp=VERB,NOUN/right2". Attributes of different lines are distinct
// even if they are spelt alike.
//
// A macro %x[place,column] is a cell of a token, in a column given by name. Places are the head h, the dependent d, and
// their neighbours: h-1 is the token before the head, d+2 the second token after the dependent. The root is one token
// before the first. Beyond the ends of a sentence a cell is _B-1, _B-2, … before it (so the root's is _B-1) and _B+1,
// _B+2, … after it.
//
// A cell _ has no value, except in the column word. If a macro has no value, its line makes no attribute.
//
// Functions are those of package features, from lower and shape to suffix3, and key:NAME, the value of NAME in a list
// such as Case=Nom|Number=Sing, if present.
//
// Other macros look at the tokens strictly between head and dependent, or at the arc itself:
//
//	%x[between,upos]            one attribute for each distinct value there; at most one such macro per line
//	%set[between,upos]          the set of the values there, as one value
//	%count:VERB[between,upos]   how many tokens there have the value VERB: 0, 1, 2 or 3+
//	%dir                        right if the dependent is to the right of its head, else left
//	%dist                       the distance: 1, 2, 3, 4, 5-6, 7-10 or 11+
//
// Internally an attribute is a 64-bit hash of its macros' values. Fit numbers the attributes that occur often enough on
// the gold arcs of the training data, so most arcs that are not gold have few attributes.
package arcs
