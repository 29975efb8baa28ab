// Package logfmt reads and writes log lines of the form level=info msg="file saved" bytes=512.
package logfmt

import (
	"errors"
	"strconv"
	"strings"
)

// Field is one key of a line with its value. A key without "=" has an empty value.
type Field struct {
	Key, Value string
}

// ErrQuote is returned for a quoted value that does not end, or holds an escape that Go's strings do not have.
var ErrQuote = errors.New("logfmt: bad quoted value")

// ErrKey is returned for a value without a key.
var ErrKey = errors.New("logfmt: value without a key")

// Parse returns the fields of a line in their order. Values without quotes are parts of the line, not copies.
func Parse(line string) ([]Field, error) {
	fields := make([]Field, 0, strings.Count(line, "="))
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return fields, nil
		}
		end := keyEnd(line)
		if end == 0 {
			return fields, ErrKey
		}
		field := Field{Key: line[:end]}
		line = line[end:]
		if strings.HasPrefix(line, "=") {
			var err error
			if field.Value, line, err = readValue(line[1:]); err != nil {
				return fields, err
			}
		}
		fields = append(fields, field)
	}
}

// keyEnd returns the length of the key that the text begins with.
func keyEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '=' || text[i] <= ' ' {
			return i
		}
	}
	return len(text)
}

// readValue returns the value that the text begins with, and what follows it.
func readValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], nil
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			value, err = unquote(text[:i+1])
			return value, text[i+1:], err
		}
	}
	return "", "", ErrQuote
}

// unquote returns what stands between the quotes. Only a value with an escape is copied.
func unquote(quoted string) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return "", ErrQuote
	}
	return value, nil
}

// Append adds the line of these fields to a buffer, without a line break, and returns the longer buffer.
func Append(line []byte, fields []Field) []byte {
	for i, field := range fields {
		if i > 0 {
			line = append(line, ' ')
		}
		line = append(line, field.Key...)
		line = append(line, '=')
		if needsQuotes(field.Value) {
			line = strconv.AppendQuote(line, field.Value)
		} else {
			line = append(line, field.Value...)
		}
	}
	return line
}

// needsQuotes returns whether a value would not be read back as it is.
func needsQuotes(value string) bool {
	return strings.ContainsAny(value, " \t\r\n\"\\=")
}
