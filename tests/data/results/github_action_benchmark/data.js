window.BENCHMARK_DATA = {
  "lastUpdate": 1710302757204,
  "repoUrl": "https://example.org/a/b",
  "entries": {
    "Go": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "aaaaaaaa00000000000000000000000000000000",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/aaaaaaaa00000000000000000000000000000000"
        },
        "date": 1710000000000,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkParse",
            "value": 1500,
            "unit": "ns/op\t     112 B/op\t       2 allocs/op",
            "extra": "30000 times\n8 procs"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "cccccccc22222222222222222222222222222222",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/cccccccc22222222222222222222222222222222"
        },
        "date": 1712000000000,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkParse",
            "value": 1400,
            "unit": "ns/op\t  80.5 MB/s\t     96 B/op\t       3 allocs/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkParse - ns/op",
            "value": 1400,
            "unit": "ns/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkParse - MB/s",
            "value": 80.5,
            "unit": "MB/s",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkParse - B/op",
            "value": 96,
            "unit": "B/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkParse - allocs/op",
            "value": 3,
            "unit": "allocs/op",
            "extra": "30000 times\n8 procs"
          }
        ]
      }
    ],
    "Python": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "aaaaaaaa00000000000000000000000000000000",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/aaaaaaaa00000000000000000000000000000000"
        },
        "date": 1710000001000,
        "tool": "pytest",
        "benches": [
          {
            "name": "tests/test_a.py::test_sort",
            "value": 2000.5,
            "unit": "iter/sec",
            "range": "stddev: 0.00001",
            "extra": "mean: 499.875 usec\nrounds: 120"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000000000,
        "tool": "pytest",
        "benches": [
          {
            "name": "tests/test_a.py::test_sort",
            "value": 2100.25,
            "unit": "iter/sec",
            "range": "stddev: 0.00002",
            "extra": "mean: 476.13 usec\nrounds: 130"
          }
        ]
      }
    ],
    "Rust": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000001000,
        "tool": "cargo",
        "benches": [
          {
            "name": "fib/20",
            "value": 39056,
            "range": "± 8021",
            "unit": "ns/iter"
          }
        ]
      }
    ],
    "C++": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000002000,
        "tool": "googlecpp",
        "benches": [
          {
            "name": "BM_sort/8",
            "value": 6.5,
            "unit": "us/iter",
            "extra": "iterations: 100\ncpu: 6.4 us\nthreads: 1"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000003000,
        "tool": "googlecpp",
        "benches": [
          {
            "name": "BM_sort/8",
            "value": 6.6,
            "unit": "us/iter",
            "extra": "iterations: 100\ncpu: 6.4 us\nthreads: 1"
          }
        ]
      }
    ],
    "JS": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000004000,
        "tool": "benchmarkjs",
        "benches": [
          {
            "name": "a x b",
            "value": 11465,
            "range": "±1.12%",
            "unit": "ops/sec",
            "extra": "91 samples"
          }
        ]
      }
    ],
    "JVM": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000005000,
        "tool": "jmh",
        "benches": [
          {
            "name": "a.B.c ( {\"size\":\"10\"} )",
            "value": 35.5,
            "unit": "ops/ms",
            "extra": "iterations: 3\nforks: 1\nthreads: 1"
          },
          {
            "name": "a.B.d",
            "value": 2.5,
            "unit": "us/op",
            "extra": "iterations: 3"
          }
        ]
      }
    ],
    "NET": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000006000,
        "tool": "benchmarkdotnet",
        "benches": [
          {
            "name": "A.B.C(n: 8)",
            "value": 800.5,
            "unit": "ns",
            "range": "± 12.5"
          }
        ]
      }
    ],
    "Catch": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000007000,
        "tool": "catch2",
        "benches": [
          {
            "name": "Fibonacci 20",
            "value": 43.186,
            "unit": "us",
            "range": "± 11.719",
            "extra": "100 samples\n2 iterations"
          }
        ]
      }
    ],
    "Bigger": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000008000,
        "tool": "customBiggerIsBetter",
        "benches": [
          {
            "name": "free",
            "value": "31",
            "unit": "Percent"
          },
          {
            "name": "no unit",
            "value": 30,
            "range": "3"
          }
        ]
      }
    ],
    "Smaller": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "bbbbbbbb11111111111111111111111111111111",
          "message": "a change\n\nwith \"quotes\" and {braces}",
          "timestamp": "2024-03-12T15:59:50-04:00",
          "tree_id": "0000000000000000000000000000000000000000",
          "url": "https://example.org/commit/bbbbbbbb11111111111111111111111111111111"
        },
        "date": 1711000009000,
        "tool": "customSmallerIsBetter",
        "benches": [
          {
            "name": "used",
            "value": 100,
            "unit": "Megabytes",
            "range": "3",
            "extra": "anything\nelse"
          },
          {
            "name": "broken",
            "value": null,
            "unit": "ms"
          }
        ]
      }
    ]
  }
}