// RecordWatch: scans a delimited file for too long records, kinds of line ends and the shapes of values.
// It sees every byte once, in order, and the result does not depend on how the bytes were divided into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "columns/field_shapes.hpp"

namespace naively {

// A quote opens where a value begins, and two quotes within quotes are one. A record ends with a line, outside quotes.
class RecordWatch {
   public:
    static constexpr std::int64_t none = -1;

    // `quote` below zero: there are no quotes.
    RecordWatch(char delimiter, int quote, std::int64_t longest, FieldShapes shapes)
        : delimiter_(delimiter), quote_(quote), longest_(longest), shapes_(std::move(shapes)) {}

    // Read the next bytes of the file.
    void feed(const char* bytes, std::size_t size) {
        if (size > 0 && returned_) end_of_line(bytes[0] == '\n');
        for (std::size_t at = 0; at < size;) at = inside_ ? within(bytes, size, at) : outside(bytes, size, at);
        if (size > 0) last_ = bytes[size - 1];
        passed_ += static_cast<std::int64_t>(size);
    }

    // End the file. Returns the position of the first record that is too long or, if `unclosed` is set, whose quotes
    // are still open; or none.
    std::int64_t finish(bool unclosed) {
        check(passed_);
        return unclosed && found_ == none && inside_ && !closing_ ? start_ : found_;
    }

    // The number of kinds of line ends outside quotes: line feeds, carriage returns, and both together.
    int kinds_of_line_ends() {
        if (returned_) end_of_line(false);
        return static_cast<int>(feeds_) + static_cast<int>(returns_) + static_cast<int>(pairs_);
    }

    // End the file and return the shapes of the values in each column.
    const std::vector<std::uint8_t>& shapes() { return shapes_.finish(); }

   private:
    static const char* find(const char* from, const char* to, int wanted) {
        return from == to ? nullptr
                          : static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(to - from)));
    }
    // Find the end of a line: a line feed or, in files without any, a carriage return.
    static const char* line_end(const char* from, const char* to) {
        const char* const found = find(from, to, '\n');
        return found ? found : find(from, to, '\r');
    }

    // Handle the carriage return before this byte: a line end by itself, or together with a line feed.
    void end_of_line(bool paired) {
        (paired ? pairs_ : returns_) = true;
        returned_ = false;
    }
    void see_line_ends(const char* bytes, std::size_t at, std::size_t end, std::size_t size) {
        for (const char* next = bytes + at; (next = find(next, bytes + end, '\r')); ++next) {
            returned_ = true;
            const auto behind = static_cast<std::size_t>(next - bytes) + 1;
            if (behind < size) end_of_line(bytes[behind] == '\n');
        }
        for (const char* next = bytes + at; !feeds_ && (next = find(next, bytes + end, '\n')); ++next)
            feeds_ = (next > bytes ? next[-1] : last_) != '\r';
    }

    void check(std::int64_t end) {
        if (found_ == none && end - start_ > longest_) found_ = start_;
    }

    // Read to the quote that ends a value, and behind it.
    std::size_t within(const char* bytes, std::size_t size, std::size_t at) {
        if (closing_) {  // the last byte was a quote, and the next decides what it meant
            closing_ = false;
            inside_ = bytes[at] == static_cast<char>(quote_);
            return inside_ ? at + 1 : at;
        }
        const char* const quote = find(bytes + at, bytes + size, quote_);
        if (!quote) return size;
        closing_ = true;
        return static_cast<std::size_t>(quote - bytes) + 1;
    }

    // Read to the quote that begins a value, and behind it.
    std::size_t outside(const char* bytes, std::size_t size, std::size_t at) {
        const char* const quote = quote_ < 0 ? nullptr : find(bytes + at, bytes + size, quote_);
        const std::size_t end = quote ? static_cast<std::size_t>(quote - bytes) : size;
        lines(bytes, at, end);
        see_line_ends(bytes, at, end, size);
        shapes_.plain(bytes + at, bytes + end);
        if (!quote) return size;
        shapes_.quoted();
        const bool first = end == 0 && passed_ == 0;
        const char before = end > 0 ? bytes[end - 1] : last_;
        inside_ = first || before == delimiter_ || before == '\n' || before == '\r';
        return end + 1;
    }

    // Find the ends of records among bytes without quotes.
    void lines(const char* bytes, std::size_t at, std::size_t end) {
        while (const char* const found = line_end(bytes + at, bytes + end)) {
            at = static_cast<std::size_t>(found - bytes) + 1;
            check(passed_ + static_cast<std::int64_t>(at));
            start_ = passed_ + static_cast<std::int64_t>(at);
        }
    }

    char delimiter_;
    int quote_;
    std::int64_t longest_, passed_ = 0, start_ = 0, found_ = none;
    FieldShapes shapes_;
    char last_ = '\n';
    bool feeds_ = false, returns_ = false, pairs_ = false;
    bool returned_ = false;  // true if the last byte was a carriage return outside quotes
    bool inside_ = false;
    bool closing_ = false;  // true within quotes, if the last byte was a quote
};

}  // namespace naively
