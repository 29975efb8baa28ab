package logfmt

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	for line, want := range map[string][]Field{
		"":                           {},
		"  debug ":                   {{"debug", ""}},
		"level=info bytes=512":       {{"level", "info"}, {"bytes", "512"}},
		`msg="file saved" ok`:        {{"msg", "file saved"}, {"ok", ""}},
		`msg="he said \"no\"" n=1`:   {{"msg", `he said "no"`}, {"n", "1"}},
		`path=C:\temp empty= last=1`: {{"path", `C:\temp`}, {"empty", ""}, {"last", "1"}},
	} {
		if got, err := Parse(line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %q, %v, want %q", line, got, err, want)
		}
	}
}

func TestBadLines(t *testing.T) {
	for line, want := range map[string]error{`msg="no end`: ErrQuote, `msg="\x"`: ErrQuote, "=1": ErrKey} {
		if _, err := Parse(line); !errors.Is(err, want) {
			t.Errorf("Parse(%q): %v, want %v", line, err, want)
		}
	}
}

func TestAppendIsReadBack(t *testing.T) {
	for _, line := range sample(200) {
		fields, err := Parse(line)
		if err != nil {
			t.Fatalf("Parse(%q): %v", line, err)
		}
		again, err := Parse(string(Append(nil, fields)))
		if err != nil || !reflect.DeepEqual(again, fields) {
			t.Errorf("%q was read back as %q, %v", fields, again, err)
		}
	}
}

// sample returns the log of a made-up server, always the same one.
func sample(count int) []string {
	numbers := rand.New(rand.NewSource(1))
	paths := []string{"/", "/api/orders", "/api/orders/17/items", "/static/app.css"}
	lines := make([]string, count)
	for i := range lines {
		lines[i] = fmt.Sprintf(
			`ts=2026-01-05T09:%02d:%02dZ level=info method=GET path=%s status=200 bytes=%d ms=%d.%d msg="request served" user="station %d"`,
			i/60%60, i%60, paths[numbers.Intn(4)], numbers.Intn(1e6), numbers.Intn(90), numbers.Intn(10), numbers.Intn(500),
		)
	}
	return lines
}

func BenchmarkParse(b *testing.B) {
	lines := sample(1000)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, line := range lines {
			if _, err := Parse(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	var records [][]Field
	for _, line := range sample(1000) {
		fields, _ := Parse(line)
		records = append(records, fields)
	}
	buffer := make([]byte, 0, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, record := range records {
			buffer = Append(buffer[:0], record)
		}
	}
}
