// csvtotals FILE KEY VALUE: prints the sum of the column VALUE for each value of the column KEY.
#include "totals.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

int main(int argc, char** argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: csvtotals FILE KEY VALUE\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    if (!file) {
        std::perror(argv[1]);
        return 1;
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
        for (const auto& [key, sum] : csv::totals(text, argv[2], argv[3]))
            std::printf("%12.2f %s\n", sum, key.c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "csvtotals: %s: %s\n", argv[1], error.what());
        return 1;
    }
    return 0;
}
