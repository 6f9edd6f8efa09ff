// Package boxes holds boxes in images: their geometry, sliding windows as candidates, and the metrics of localisation
// and detection. Its sub-packages read annotations and candidates, draw scenes, and draw boxes on images.
package boxes
