package words

import "testing"

func BenchmarkCount(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Count("a b c")
	}
}
func TestNot(t *testing.T) {
	t.Fatal("tests are not run")
}
