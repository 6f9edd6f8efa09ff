package tokens

import "unicode"

// brailleBlank is the pattern without dots, a sign by its category.
const brailleBlank = 0x2800

// Invisible reports whether a character is white space, a control character, or has no shape of its own: Unicode's default ignorable code
// points (format characters, variation selectors, fillers), and the blank of Braille. Text that is nothing else is no token.
func Invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || ignorable(r) || r == brailleBlank
}

// ignorable reports whether a character is a default ignorable code point, as DerivedCoreProperties.txt of Unicode derives them.
func ignorable(r rune) bool {
	switch {
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case !unicode.Is(unicode.Cf, r), unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return (r < 0xfff9 || r > 0xfffb) && (r < 0x13430 || r > 0x13440) // annotations between lines and hieroglyphs' joins are shown
}
