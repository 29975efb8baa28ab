// Reads CSV as RFC 4180 has it: fields in quotes may hold commas, line breaks and doubled quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace csv {

// One row after the other of a text, which must outlive the reader.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    // Reads the next row; returns false at the end. Throws std::runtime_error if a quote does not end.
    bool next();

    // The fields of the row, until the next one is read.
    const std::vector<std::string>& row() const { return row_; }

private:
    std::string_view rest_;
    std::vector<std::string> row_;
};

} // namespace csv
