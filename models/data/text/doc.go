// Package text reads and writes text files of sequences: columns (CoNLL, CoNLL-U) and CRFsuite's attribute files. It
// parses files in blocks on several threads, keeps the file's layout for predictions, and encodes words as discrete
// inputs. It also reads partial labels.
package text
