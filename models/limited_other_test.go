//go:build !linux

package models

import "testing"

// limited reports whether the test runs here: only Linux has limits for it.
func limited(*testing.T) bool { return true }
