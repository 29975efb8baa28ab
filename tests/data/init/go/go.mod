module example.com/acme/words/v2

go 1.21
