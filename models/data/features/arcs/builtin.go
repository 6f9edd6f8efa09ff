package arcs

import _ "embed"

//go:embed parse.template
var builtin string

// Builtin returns the text of the built-in template of dependency trees.
func Builtin() string { return builtin }

//go:embed spans.template
var builtinSpans string

// BuiltinSpans returns the text of the built-in template of spans of words, whose first word takes the place of the
// dependent, and whose last word that of the head.
func BuiltinSpans() string { return builtinSpans }
