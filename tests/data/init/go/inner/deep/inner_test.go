package inner

import (
	"os"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"one", "two"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if _, err := os.ReadFile("data.txt"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
