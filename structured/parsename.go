package structured

import (
	"slices"
	"strings"
)

// ParseName returns the value of that name in a list of the names of all values from 0. An error says what it is the
// name of, and lists the names.
func ParseName[E ~int](what string, names []string, name string) (E, error) {
	if i := slices.Index(names, name); i >= 0 {
		return E(i), nil
	}
	last := len(names) - 1
	return 0, BadInput("%s %q is not known; use %s or %s", what, name, strings.Join(names[:last], ", "), names[last])
}
