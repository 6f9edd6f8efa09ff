package settings

import (
	"fmt"
	"strings"
)

// Asker is who gives settings, and so how messages name them.
type Asker int

const (
	CommandLine Asker = iota // --min-probability 0.1, --truncate=false
	Query                    // of a request: ?min_probability=0.1
)

// Name returns a setting as the asker gives it, with the value if there is one.
func (a Asker) Name(name string, value ...any) string {
	text, between := "--"+name, " "
	if a == Query {
		text, between = "?"+strings.ReplaceAll(name, "-", "_"), "="
	}
	for _, v := range value {
		if _, yes := v.(bool); yes {
			between = "="
		}
		text += between + fmt.Sprint(v)
	}
	return text
}
