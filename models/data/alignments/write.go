package alignments

import "strconv"

// AppendLinks appends the links of a sentence pair in Pharaoh format, separated by spaces: i-j if sure and i?j if
// possible. With margins [links], each link ends with its margin: i-j:0.83.
func AppendLinks(to []byte, links []Link, margins []float32) []byte {
	for k, l := range links {
		if k > 0 {
			to = append(to, ' ')
		}
		to = l.append(to, 0)
		if margins != nil {
			to = strconv.AppendFloat(append(to, ':'), float64(margins[k]), 'g', 4, 32)
		}
	}
	return to
}

// AppendPair appends a sentence pair: source words ||| target words, without a line end.
func AppendPair(to []byte, source, target []string) []byte {
	to = appendWords(to, source)
	to = append(to, " "+Separator+" "...)
	return appendWords(to, target)
}

func appendWords(to []byte, words []string) []byte {
	for k, w := range words {
		if k > 0 {
			to = append(to, ' ')
		}
		to = append(to, w...)
	}
	return to
}
