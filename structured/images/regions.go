package images

// Regions computes the features of regions of any shape, and writes them to dst [count×CellFeatures]. Pixel y·Width+x
// belongs to region of[y·Width+x], and every region from 0 to count−1 has a pixel. The features are those that Cells
// has, with two differences: the orientations are divided by the strength of the gradient in the region alone, and the
// position is that of its centre of mass.
func (m *Image) Regions(dst []float32, of []int32, count int) {
	const d = CellFeatures
	dst = dst[:count*d]
	clear(dst)
	p := m.plane()
	p.begin(count)
	for y := range m.Height {
		for x := range m.Width {
			region := of[y*m.Width+x]
			f := dst[int(region)*d:][:d]
			p.addPixel(f, x, y)
			f[positionAt] += (2*float32(x)+1)/float32(m.Width) - 1
			f[positionAt+1] += (2*float32(y)+1)/float32(m.Height) - 1
			p.counts[region]++
		}
	}
	p.average(dst)
	for region := range count {
		f := dst[region*d:][:d]
		by := f[StrengthAt] + faint
		for k := range f[gradientAt:StrengthAt] {
			f[gradientAt+k] /= by
		}
	}
}
