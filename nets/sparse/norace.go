//go:build !race

package sparse

const raceDetector = false
