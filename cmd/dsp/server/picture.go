package server

import (
	"bytes"
	"image"
	"image/png"
)

// encodePNG returns an image as a PNG file.
func encodePNG(m image.Image) ([]byte, error) {
	var file bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, m)
	return file.Bytes(), err
}
