// Package features turns columns of text into sparse attributes, as a template describes (package templates). The
// language is that of CRF++ (Kudo, https://taku910.github.io/crfpp/), extended by functions of a cell:
//
//	# a comment
//	Ubias
//	U00:%x[-1,word]
//	U01:%x[-1,word]/%x[0,word]
//	U02:%lower.suffix3[0,word]
//	U03:%x[0,pos?]
//	B
//	B01:%x[0,1]
//
// A line that begins with U makes one attribute per position. The attribute's name is the line with its macros replaced
// by their values: "U00:the". A line that begins with B makes one attribute per step; a step leads to its position from
// the one before. Attributes of steps let transitions depend on the input. Two lines that expand to the same name share
// an attribute, and each occurrence counts. A B line without macros means plain transitions.
//
// A line that begins with S makes one attribute for each segment that a sequence may be divided into, in a table of
// their own (segments.Rows). The row of a macro is first or last, or so many rows from there (first-1), or all: the
// values of all positions, joined by spaces; all..3 for segments of at most 3 positions. %length is the number of
// positions. In the column gazetteer, all are the types of the name that the whole segment is.
//
// A macro %x[row,column] is the cell row positions further on, in a column given by name or by a number from 0, which
// does not count the column of labels. Beyond the ends of a sequence a cell is _B-1, _B-2, … before it and _B+1, _B+2,
// … after it.
//
// Some functions have a value for every cell, and leave the marks beyond the ends unchanged:
//
//	lower      in lower case
//	zero       every digit is 0
//	shape      X for upper case, x for other letters, d for digits, the rest unchanged; at most two of a run, ten in all
//	short      the same, but one of each run
//
// Others may have no value, and have none beyond the ends, but for outside. If a macro has no value, its line makes no
// attribute:
//
//	prefixN    the first N letters, of cells with at least N
//	suffixN    the last N letters, of cells with at least N
//	caps       upper, initial, lower or mixed: the case of the letters
//	digits     all, number (with signs such as 1,000.5 or 10:30) or some: the use of digits
//	kind       url, email, mention, hashtag, ordinal or symbols
//	firstN     the first N letters, or all if there are fewer; none of an empty cell
//	ifcapital  the cell itself, if it has an upper case letter
//	ifletters  the cell itself, if it has letters only
//	given      the cell itself, unless it is _, which stands for nothing
//	outside    nothing, but the mark beyond the ends
//	isupper istitle islower                                yes, if caps is upper, initial or lower
//	isdigit isalpha isalnum ispunct                        yes, if all characters are
//	hasupper haslower hasdigit haspunct hashyphen hasdot   yes, if some character is
//
// Two functions have several values, and make an attribute for each. They come last, in lines without other macros:
//
//	ngramsN    the pieces of 2 to N letters, where marks < and > at both ends count as letters
//	each       the values between | signs
//
// A range of rows, %x[-4..-1,word], makes an attribute for each of these rows inside the sequence. A line has at most
// one.
//
// Lists make two more columns, by looking up the column word. With Clusters the column cluster holds the path of the
// word's cluster, a string of bits; it is empty for other words. With a Gazetteer the column gazetteer holds the types
// of the names that the word is part of, as in B-person|I-place. With Known the column known holds words that the
// training data have often, and classes of the spelling of others.
package features
