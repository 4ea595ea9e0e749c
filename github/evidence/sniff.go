package evidence

import (
	"bytes"
	"encoding/binary"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// asText decides whether content is text and gives it as UTF-8, with the name of
// the encoding that it had. It fails for binary content.
func asText(content []byte) (text []byte, encoding string, ok bool) {
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}) && len(content)%2 == 0:
		text, ok = fromUTF16(content[2:], binary.LittleEndian)
		return text, "utf-16le", ok
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}) && len(content)%2 == 0:
		text, ok = fromUTF16(content[2:], binary.BigEndian)
		return text, "utf-16be", ok
	case bytes.IndexByte(content, 0) >= 0:
		return nil, "", false
	case utf8.Valid(content):
		return content, "utf-8", true
	case hasControls(content):
		return nil, "", false
	default:
		return fromLatin1(content), "latin-1", true
	}
}

func fromUTF16(content []byte, order binary.ByteOrder) ([]byte, bool) {
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = order.Uint16(content[2*i:])
	}
	text := make([]byte, 0, len(content))
	for _, r := range utf16.Decode(units) {
		if r == 0 {
			return nil, false
		}
		text = utf8.AppendRune(text, r)
	}
	return text, true
}

func fromLatin1(content []byte) []byte {
	text := make([]byte, 0, len(content)+len(content)/8)
	for _, c := range content {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}

// hasControls tells whether content holds control characters that text does not:
// none but tab, the line ends, form feed, backspace and escape.
func hasControls(content []byte) bool {
	for _, c := range content {
		if c < 0x20 && !strings.ContainsRune("\t\n\r\f\b\x1b", rune(c)) || c == 0x7f {
			return true
		}
	}
	return false
}

// countLines counts lines; a last one without a line end counts.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// binaryByName tells whether a file's name says that it is binary, which saves
// fetching it where GitHub sent no patch either.
func binaryByName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".7z", ".a", ".avi", ".avif", ".bin", ".bmp", ".br", ".bz2", ".class", ".dll", ".dylib", ".eot",
		".exe", ".flac", ".gif", ".gz", ".heic", ".icns", ".ico", ".jar", ".jpeg", ".jpg", ".lib", ".mov",
		".mp3", ".mp4", ".o", ".ogg", ".otf", ".pdf", ".png", ".psd", ".pyc", ".rar", ".so", ".sqlite",
		".tar", ".tgz", ".tif", ".tiff", ".ttf", ".wasm", ".wav", ".webm", ".webp", ".woff", ".woff2",
		".xls", ".xlsx", ".xz", ".zip", ".zst":
		return true
	}
	return false
}
