package tiny

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

var sink int

func sum(n int) (s int) {
	for i := 0; i < n; i++ {
		s ^= i
	}
	return s
}

func BenchmarkSum(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = sum(100)
	}
}

// Names that end like a GOMAXPROCS suffix, and others that are hard to read.
func BenchmarkSizes(b *testing.B) {
	for _, name := range []string{"a", "a-2", "size=10", "with space", "quote\"'", "new\nline", "🐢", "Benchmark 1"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100)
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				sink = sum(100)
			}
			b.ReportMetric(2.5, "p99-ns")
			b.ReportMetric(3, "req/s")
			b.ReportMetric(7, "widgets/op")
		})
	}
}

// Prints into the line that the testing package has begun.
func BenchmarkPrints(b *testing.B) {
	fmt.Print("no newline ")
	for i := 0; i < b.N; i++ {
		sink = sum(100)
	}
	fmt.Println("BenchmarkLike 12 things")
	fmt.Print("still no newline ")
}

func BenchmarkLogs(b *testing.B) {
	b.Log("a line\n\tBenchmarkX-8 100 5 ns/op")
	for i := 0; i < b.N; i++ {
		sink = sum(100)
	}
}

func BenchmarkOnlyOwn(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = sum(100)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(-4, "gain")
}

func BenchmarkSkipped(b *testing.B) {
	b.Skip("not here")
}

func BenchmarkTrouble(b *testing.B) {
	switch os.Getenv("TINY_TROUBLE") {
	case "fail":
		b.Fatal("as asked")
	case "panic":
		panic("as asked")
	case "exit":
		os.Exit(0)
	case "nan":
		nan, _ := strconv.ParseFloat("NaN", 64)
		b.ReportMetric(nan, "score")
	case "sleep":
		time.Sleep(time.Hour)
	}
	for i := 0; i < b.N; i++ {
		sink = sum(100)
	}
}
