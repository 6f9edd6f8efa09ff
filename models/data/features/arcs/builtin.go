package arcs

import _ "embed"

//go:embed parse.template
var builtin string

// Builtin returns the text of the built-in template.
func Builtin() string { return builtin }
