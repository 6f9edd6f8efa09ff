package train

import "strings"

// Rule is a way of computing that decides the weights and was another in earlier versions of the program, whose checkpoints do not name it.
type Rule struct {
	Name   string // in the identity of the runs that it concerns
	Change string // a clause: what it was and what it is now
}

// Unnamed returns the rules that the identity of a run does not name.
func Unnamed(rules []Rule, identity map[string]string) (unnamed []Rule) {
	for _, r := range rules {
		if _, named := identity[r.Name]; !named {
			unnamed = append(unnamed, r)
		}
	}
	return unnamed
}

// Explain returns what rules that a run does not name may have to do with its differences, to be added to a list of these. It is empty for no rules.
func Explain(unnamed []Rule) string {
	if len(unnamed) == 0 {
		return ""
	}
	changes := make([]string, len(unnamed))
	for k, r := range unnamed {
		changes[k] = r.Change
	}
	return ". The run may have begun with an earlier version of the program: " + strings.Join(changes, "; ")
}
