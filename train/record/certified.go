package record

// Certified returns what a text for people says of a certificate: a bound, a gap, or a distance to the optimum. If the objective was
// relaxed, because the oracle's answers are bounds, the certificate is about that objective, which differs from the one that exact answers
// define, and the text says so. Tables, reports, pictures and messages call this; the progress of a run calls the
// objective itself relaxed. Without a text there is nothing to say.
func Certified(text string, relaxed bool) string {
	if relaxed && text != "" {
		text += ", relaxed objective"
	}
	return text
}
