#include "totals.h"

#include "csv.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <unordered_map>

namespace csv {

namespace {

std::size_t column(const std::vector<std::string>& header, std::string_view name)
{
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end())
        throw std::runtime_error("no column " + std::string(name));
    return static_cast<std::size_t>(found - header.begin());
}

double number(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0')
        throw std::runtime_error("not a number: " + text);
    return value;
}

} // namespace

std::map<std::string, double> totals(std::string_view text, std::string_view key, std::string_view value)
{
    Reader reader(text);
    if (!reader.next())
        throw std::runtime_error("no header");
    const std::size_t key_column = column(reader.row(), key);
    const std::size_t value_column = column(reader.row(), value);
    std::unordered_map<std::string, double> sums;
    while (reader.next()) {
        const std::vector<std::string>& row = reader.row();
        if (row.size() <= std::max(key_column, value_column))
            throw std::runtime_error("a row is too short");
        sums[row[key_column]] += number(row[value_column]);
    }
    return {sums.begin(), sums.end()};
}

} // namespace csv
