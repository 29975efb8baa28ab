// The tests of csv.h and totals.h: prints what is wrong, and returns how much that is.
#include "csv.h"
#include "totals.h"

#include <cstdio>
#include <stdexcept>

static int failures = 0;

static void expect(bool right, const char* what)
{
    if (!right) {
        std::fprintf(stderr, "wrong: %s\n", what);
        ++failures;
    }
}

static std::vector<std::vector<std::string>> rows(std::string_view text)
{
    std::vector<std::vector<std::string>> found;
    for (csv::Reader reader(text); reader.next();)
        found.push_back(reader.row());
    return found;
}

static std::string refused(std::string_view text, const char* value)
{
    try {
        csv::totals(text, "k", value);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

int main()
{
    using Rows = std::vector<std::vector<std::string>>;
    expect(rows("").empty(), "no rows");
    expect(rows("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}}, "plain fields");
    expect(rows("a,\r\n,b") == Rows{{"a", ""}, {"", "b"}}, "empty fields and CRLF");
    expect(rows("\"a,b\",\"c\"\"d\"\n\"e\nf\",g") == Rows{{"a,b", "c\"d"}, {"e\nf", "g"}}, "quotes");
    expect(rows("a,b,c\nd") == Rows{{"a", "b", "c"}, {"d"}}, "a short row");

    const auto sums = csv::totals("k,v\nx,1.5\ny,2\nx,-1\n", "k", "v");
    expect(sums == std::map<std::string, double>{{"x", 0.5}, {"y", 2}}, "sums");
    expect(refused("k,v\nx,1", "w") == "no column w", "a missing column");
    expect(refused("k,v\nx,1x", "v") == "not a number: 1x", "a bad number");
    expect(refused("k,v\nx", "v") == "a row is too short", "a short row of totals");
    expect(refused("k,v\n\"x,1", "v") == "a quote does not end", "an open quote");
    return failures;
}
