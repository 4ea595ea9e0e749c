package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Values returns a JSON document with each of its texts masked: names and values,
// decoded, so that no escape hides what they say. The order of what it holds stays,
// and numbers keep their digits. A value whose name says that it is a secret, as
// "password" does, is masked whatever it is. It fails for what is no JSON.
func Values(document []byte, mask func(string) string) ([]byte, error) {
	w := walker{dec: json.NewDecoder(bytes.NewReader(document)), mask: mask}
	w.dec.UseNumber()
	for {
		err := w.next()
		if errors.Is(err, io.EOF) && len(w.open) == 0 && w.out.Len() > 0 {
			return w.out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// JSON is [Values] with every secret masked. What is no JSON is masked as a text.
func (r *Redactor) JSON(document []byte) []byte {
	masked, err := Values(document, r.String)
	if err != nil {
		return r.Bytes(document)
	}
	return masked
}

type walker struct {
	dec  *json.Decoder
	mask func(string) string
	out  bytes.Buffer
	open []frame
}

// frame is an object or a list around what is written.
type frame struct {
	object bool
	n      int    // tokens so far, names included
	name   string // of the member that comes next
	secret bool   // all within is
}

func (w *walker) next() error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
		w.open = w.open[:len(w.open)-1]
		w.out.WriteRune(rune(d))
		return nil
	}
	var in *frame
	var isName, secret bool
	var name string
	if len(w.open) == 0 && w.out.Len() > 0 {
		return errors.New("there is something behind the document")
	}
	if len(w.open) > 0 {
		in = &w.open[len(w.open)-1]
		isName = in.object && in.n%2 == 0
		name = in.name
		secret = in.secret || in.object && !isName && namesSecret(name)
		switch {
		case in.object && in.n%2 == 1:
			w.out.WriteByte(':')
		case in.n > 0:
			w.out.WriteByte(',')
		}
		in.n++
	}
	switch t := token.(type) {
	case json.Delim:
		w.out.WriteRune(rune(t))
		w.open = append(w.open, frame{object: t == '{', name: name, secret: secret})
	case string:
		if isName {
			in.name = t
			return w.write(w.mask(t))
		}
		if secret && t != "" {
			return w.write(Mask)
		}
		return w.write(maskUnder(name, t, w.mask))
	case json.Number:
		if s := t.String(); secret || w.mask(s) != s {
			return w.write(Mask)
		}
		w.out.WriteString(t.String())
	case bool:
		if t {
			w.out.WriteString("true")
		} else {
			w.out.WriteString("false")
		}
	default:
		w.out.WriteString("null")
	}
	return nil
}

// write writes a text as JSON, with <, > and & as they are.
func (w *walker) write(s string) error {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	w.out.Truncate(w.out.Len() - 1) // the line feed
	return nil
}

// maskUnder masks a value also where only its name tells what it is, as in
// "authorization": "abcdef".
func maskUnder(name, value string, mask func(string) string) string {
	masked := mask(value)
	if name == "" {
		return masked
	}
	prefix := name + ": "
	if both := mask(prefix + masked); strings.HasPrefix(both, prefix) {
		return both[len(prefix):]
	}
	return masked
}

// namesSecret reports whether a member's name says that its value is a secret.
func namesSecret(name string) bool {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name)) {
	case "password", "passwd", "passphrase", "pwd", "secret", "clientsecret", "signingsecret", "webhooksecret",
		"token", "accesstoken", "refreshtoken", "authtoken", "bearertoken", "apitoken", "bottoken",
		"apikey", "xapikey", "secretkey", "secretaccesskey", "privatekey", "encryptionkey",
		"authorization", "proxyauthorization", "cookie", "setcookie", "credential", "credentials":
		return true
	}
	return false
}
