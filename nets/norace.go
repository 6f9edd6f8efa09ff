//go:build !race

package nets

const raceDetector = false
