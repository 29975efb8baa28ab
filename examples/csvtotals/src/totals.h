// Sums of a column for each value of another one.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace csv {

// The first row names the columns. Throws std::runtime_error at a missing column, a short row or a bad number.
std::map<std::string, double> totals(std::string_view text, std::string_view key, std::string_view value);

} // namespace csv
