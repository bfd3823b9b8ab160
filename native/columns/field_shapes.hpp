// FieldShapes: finds which shapes the values of each column of a delimited file have: whole numbers, dates, booleans.
// It sees every byte once, in order, and keeps only the current value. A long number begins with 16 or more digits and
// no point: a double may not hold it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace naively {

// Values in quotes count as `other` and as `long_number`; empty values do not count.
class FieldShapes {
   public:
    enum Shape : std::uint8_t { whole = 1, date = 2, boolean = 4, other = 8, long_number = 16 };

    // `skip`: the number of records before the first row.
    FieldShapes(char delimiter, std::vector<bool> watched, std::int64_t skip)
        : delimiter_(delimiter), skip_(skip), watched_(std::move(watched)), shapes_(watched_.size(), 0) {
        watched_.push_back(false);  // values behind the last column
    }

    // Read bytes outside quotes.
    void plain(const char* from, const char* to) {
        while (from < to) {
            const char* const end = end_of_value(from, to);
            if (watched_[column_]) keep(from, end);
            if (end == to) return;
            end_value();
            const bool ends_record = *end != delimiter_;
            column_ = ends_record ? 0 : std::min(column_ + 1, shapes_.size());
            if (ends_record && skip_ > 0 && !(*end == '\n' && returned_)) --skip_;
            returned_ = *end == '\r';
            from = end + 1;
        }
    }
    // Read a quote.
    void quoted() {
        length_ = longest + 1;
        value_.fill('0');
    }

    // End the file and return the shapes of each column.
    const std::vector<std::uint8_t>& finish() {
        end_value();
        return shapes_;
    }

   private:
    static constexpr std::size_t longest = 15;  // digits of a whole number that is surely exact as a double

    const char* end_of_value(const char* from, const char* to) const {
        return std::find_if(from, to, [&](char c) { return c == delimiter_ || c == '\n' || c == '\r'; });
    }
    void keep(const char* from, const char* end) {
        for (; from < end && length_ <= longest; ++from, ++length_) value_[length_] = *from;
    }
    void end_value() {
        if (length_ > 0 && skip_ == 0 && watched_[column_]) shapes_[column_] |= shape();
        length_ = 0;
    }
    std::uint8_t shape() const {
        if (length_ > longest) {
            const bool is_long = all_of({value_.data(), value_.size()}, "+- ");
            return is_long ? other | long_number : other;
        }
        const std::string_view value(value_.data(), length_);
        const std::size_t sign = value[0] == '+' || value[0] == '-';
        if (all_of(value.substr(sign), "")) return value.size() > sign ? whole : other;
        if (value.size() <= 10 && all_of(value, "-/.")) return date;
        return is(value, "true") || is(value, "false") ? boolean : other;
    }
    static bool all_of(std::string_view value, std::string_view besides) {
        return std::all_of(value.begin(), value.end(),
                           [&](char c) { return (c >= '0' && c <= '9') || besides.find(c) != std::string_view::npos; });
    }
    static bool is(std::string_view value, std::string_view word) {
        return std::equal(value.begin(), value.end(), word.begin(), word.end(),
                          [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    }

    char delimiter_;
    std::int64_t skip_;
    std::vector<bool> watched_;
    std::vector<std::uint8_t> shapes_;
    std::array<char, longest + 1> value_{};  // its first characters
    std::size_t column_ = 0, length_ = 0;
    bool returned_ = false;  // the last byte was a carriage return that ended a record
};

}  // namespace naively
