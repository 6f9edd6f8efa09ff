package settings

import "strings"

// Strength is a number of at least 0, such as the strength of a regulariser, or AutoStrength.
type Strength float64

// AutoStrength leaves the strength to the task.
const AutoStrength Strength = -1

// String returns the number, or auto.
func (s Strength) String() string { return Gap(s).String() }

// Set reads a number of at least 0 or auto.
func (s *Strength) Set(text string) error { return (*Gap)(s).Set(text) }

// Type names the value in help texts.
func (Strength) Type() string { return "C|auto" }

// MarshalJSON writes the number, or "auto".
func (s Strength) MarshalJSON() ([]byte, error) { return Gap(s).MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Strength) UnmarshalJSON(text []byte) error { return s.Set(strings.Trim(string(text), `"`)) }

// MarshalYAML writes the number, or auto.
func (s Strength) MarshalYAML() ([]byte, error) { return Gap(s).MarshalYAML() }

// UnmarshalYAML reads what MarshalYAML writes.
func (s *Strength) UnmarshalYAML(text []byte) error { return (*Gap)(s).UnmarshalYAML(text) }
