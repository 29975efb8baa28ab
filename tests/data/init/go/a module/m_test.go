package module

import "testing"

func BenchmarkNothing(b *testing.B) {
	for i := 0; i < b.N; i++ {
	}
}
