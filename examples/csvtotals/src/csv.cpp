#include "csv.h"

#include <algorithm>
#include <stdexcept>

namespace csv {

namespace {

// Appends the field that the text begins with, without its quotes, and cuts it off.
void take_field(std::string_view& text, std::string& field)
{
    if (!text.empty() && text.front() == '"') {
        std::size_t at = 1;
        for (;; ++at) {
            if (at >= text.size())
                throw std::runtime_error("a quote does not end");
            if (text[at] == '"') {
                if (at + 1 == text.size() || text[at + 1] != '"')
                    break;
                ++at;
            }
            field += text[at];
        }
        text.remove_prefix(at + 1);
    }
    const std::size_t end = std::min(text.find_first_of(",\r\n"), text.size());
    field.append(text.substr(0, end));
    text.remove_prefix(end);
}

} // namespace

bool Reader::next()
{
    if (rest_.empty())
        return false;
    std::size_t count = 0;
    for (;;) {
        // fields keep their memory from row to row
        if (count == row_.size())
            row_.emplace_back();
        row_[count].clear();
        take_field(rest_, row_[count++]);
        if (rest_.empty() || rest_.front() != ',')
            break;
        rest_.remove_prefix(1);
    }
    row_.resize(count);
    if (!rest_.empty() && rest_.front() == '\r')
        rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() == '\n')
        rest_.remove_prefix(1);
    return true;
}

} // namespace csv
