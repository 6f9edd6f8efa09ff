// Package packed keeps data sets in files that are mapped into memory instead of read: the arrays of a
// structured.Dataset are slices of the mapped bytes, so that the system loads the pages that are used, and drops them
// when memory is short.
//
// A pack is a safetensors file. Its tensors are aligned to their elements, and the last one is a CRC-32C of all bytes
// before it. Names, dictionaries and settings are the caller's, who adds them as metadata and tensors.
package packed
