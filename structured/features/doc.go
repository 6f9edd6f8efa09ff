// Package features makes sparse attributes from the columns of text, as a template says. The language is that of the
// templates of CRF++ (Kudo, https://taku910.github.io/crfpp/), with functions of a cell:
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
// A line that begins with U makes one attribute at each position, named as the line reads when its macros are replaced by
// what they stand for: "U00:the". A line that begins with B makes one at each step, which is from a position to the next and
// belongs to the latter: transitions that depend on the input. Lines whose expansions are spelt alike share an attribute,
// which then counts as often as it occurs. A B line without macros stands for plain transitions. Blank lines and lines
// that begin with # are skipped, and %% is a percent sign.
//
// A macro %x[row,column] is the cell so many rows further, in a column that has a name or a number from 0; the column of
// the labels is not counted. Beyond the ends of a sequence a cell is _B-1, _B-2, … before it and _B+1, _B+2, … after it. A
// column with a question mark is optional: data without it leaves the line out.
//
// In place of x stand functions, applied from left to right. Some have a value for all cells, and leave the marks beyond
// the ends as they are:
//
//	lower      in lower case
//	zero       every digit is 0
//	shape      X for upper case, x for other letters, d for digits, the rest as it is; two of a run, ten of all
//	short      the same, with one of each run
//
// Others may have none, and have none beyond the ends; where a macro has none, the line makes no attribute:
//
//	prefixN    the first N letters, of cells with at least N
//	suffixN    the last N letters, of cells with at least N
//	caps       upper, initial, lower or mixed: how letters with a case are written
//	digits     all, number (with signs such as 1,000.5 or 10:30) or some: how digits occur
//	kind       url, email, mention, hashtag, ordinal or symbols
//	isupper istitle islower                                yes, where caps is upper, initial or lower
//	isdigit isalpha isalnum ispunct                        yes, where all characters are so
//	hasupper haslower hasdigit haspunct hashyphen hasdot   yes, where some character is so
package features
