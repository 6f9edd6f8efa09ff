package settings

import "strings"

// Ranges say which settings vary, as NAME=VALUES each, where VALUES are
//
//	0.1,1,10        these values, separated by commas (semicolons where a value itself holds commas)
//	log:0.01:10:7   seven numbers from 0.01 to 10, equal factors between
//	lin:0:0.5:6     six numbers from 0 to 0.5, equal steps between
//	log:0.01:10     any number between, to draw from: the logarithm is uniform (lin: the number itself)
type Ranges []string

// String returns the texts separated by blanks.
func (r Ranges) String() string { return strings.Join(r, " ") }

// Set adds a text NAME=VALUES.
func (r *Ranges) Set(text string) error {
	*r = append(*r, text)
	return nil
}

// Type names the value in help texts.
func (Ranges) Type() string { return "NAME=VALUES" }
