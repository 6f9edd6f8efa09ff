// Package ocr generates handwritten words as images of letters, and reads and writes the layout of Taskar's OCR data
// (letter.data). Sheets of words as PNG show the data to people.
package ocr
