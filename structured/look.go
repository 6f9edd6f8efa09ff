package structured

// ImageLook is what an image looks like as a whole, before it is scaled or cut. An image that nobody has looked at has Size 0.
type ImageLook struct {
	Colour   [3]float32 // mean of red, green and blue, from 0 to 1
	Contrast float32    // standard deviation of the brightness of pixels, which is from 0 to 1
	Size     float32    // in pixels: the height of a line of text, and of other images the root of their area
}
