package tokens

import "unicode"

// brailleBlank is the pattern without dots, a sign by its category.
const brailleBlank = 0x2800

// Invisible reports whether a character is white space, a control character, or has no shape of its own: format
// characters but for those that enclose digits, Unicode's other default ignorable code points (variation selectors,
// fillers), and the blank of Braille. Text that is nothing else is no token.
func Invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == brailleBlank ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
