// sample COUNT: prints COUNT made-up orders as CSV.
#include "sample.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv)
{
    const std::string text = sample(argc == 2 ? std::atoi(argv[1]) : 1000);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
