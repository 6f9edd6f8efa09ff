package safetensors

import "encoding/json"

// JSONMetadata returns metadata whose values are the JSON of the given ones.
func JSONMetadata(values map[string]any) (map[string]string, error) {
	texts := make(map[string]string, len(values))
	for name, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	return texts, nil
}
