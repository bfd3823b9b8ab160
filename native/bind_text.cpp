// Texts and vocabularies for Python.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "bind.hpp"
#include "encode.hpp"
#include "parallel.hpp"
#include "stored.hpp"
#include "text.hpp"

using namespace naively;

namespace {

// Texts as the core reads them, with whatever keeps their bytes where they are.
struct Texts {
    Documents documents;
    std::vector<nb::object> kept;  // few: what holds many is one of them
    std::int64_t odd = -1;         // the first row that is no text
    std::size_t bytes = 0;
};

bool view_of(nb::handle item, Texts& texts, std::string_view& view) {
    if (PyUnicode_Check(item.ptr())) {
        Py_ssize_t size = 0;
        const char* data = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
        if (!data) {  // Half of a pair of surrogates: three bytes that are no UTF-8, and so belong to no word.
            PyErr_Clear();
            nb::object bytes = nb::steal(PyUnicode_AsEncodedString(item.ptr(), "utf-8", "surrogatepass"));
            if (!bytes.is_valid()) throw nb::python_error();
            view = {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
            texts.kept.push_back(std::move(bytes));
            return true;
        }
        view = {data, static_cast<std::size_t>(size)};
        return true;
    }
    if (!PyBytes_Check(item.ptr())) return false;
    view = {PyBytes_AsString(item.ptr()), static_cast<std::size_t>(PyBytes_Size(item.ptr()))};
    return true;
}

// A tuple holds on to its items, whatever becomes of the list meanwhile.
nb::tuple tuple_of(nb::handle items) {
    nb::object result = nb::steal(PySequence_Tuple(items.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    return nb::borrow<nb::tuple>(result);
}

std::unique_ptr<Texts> texts_of_list(const nb::object& list) {
    auto texts = std::make_unique<Texts>();
    nb::tuple items = tuple_of(list);
    const std::size_t size = items.size();
    texts->documents.texts.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        const nb::handle item = items[i];
        if (item.is_none()) {
            if (texts->documents.missing.empty()) texts->documents.missing.assign(size, 0);
            texts->documents.missing[i] = 1;
        } else if (!view_of(item, *texts, texts->documents.texts[i])) {
            texts->odd = static_cast<std::int64_t>(i);
            return texts;
        }
        texts->bytes += texts->documents.texts[i].size();
    }
    texts->kept.push_back(std::move(items));
    return texts;
}

// Each item is a list of tokens, or None.
std::unique_ptr<Texts> texts_of_tokens(const nb::object& lists) {
    auto texts = std::make_unique<Texts>();
    texts->documents.given = true;
    nb::tuple items = tuple_of(lists);
    nb::list held;
    texts->documents.tokens.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].is_none()) {
            if (texts->documents.missing.empty()) texts->documents.missing.assign(items.size(), 0);
            texts->documents.missing[i] = 1;
            continue;
        }
        nb::tuple tokens = tuple_of(items[i]);
        Tokens& mine = texts->documents.tokens[i];
        mine.resize(tokens.size());
        for (std::size_t k = 0; k < tokens.size(); ++k) {
            if (!view_of(tokens[k], *texts, mine[k])) {
                texts->odd = static_cast<std::int64_t>(i);
                return texts;
            }
            texts->bytes += mine[k].size();
        }
        held.append(tokens);
    }
    texts->kept.push_back(std::move(held));
    return texts;
}

template <class T>
std::unique_ptr<Texts> texts_of_buffers(const In1<T>& offsets, const In1<std::uint8_t>& data,
                                        const std::optional<In1<std::uint8_t>>& missing) {
    const std::size_t size = checked_offsets(offsets, data, missing);
    auto texts = std::make_unique<Texts>();
    texts->documents.texts.resize(size);
    const auto* bytes = reinterpret_cast<const char*>(data.data());
    for (std::size_t i = 0; i < size; ++i) {
        const T from = offsets.data()[i], to = offsets.data()[i + 1];
        texts->documents.texts[i] = {bytes + from, static_cast<std::size_t>(to - from)};
        texts->bytes += static_cast<std::size_t>(to - from);
    }
    if (missing) texts->documents.missing.assign(missing->data(), missing->data() + size);
    texts->kept.push_back(nb::cast(data));
    return texts;
}

std::unique_ptr<Texts> part_of(const Texts& texts, std::size_t from, std::size_t to) {
    require(texts.odd < 0 && from <= to && to <= texts.documents.size(), "there are no such rows");
    auto part = std::make_unique<Texts>();
    const auto cut = [&](const auto& all, auto& some) {
        if (!all.empty())
            some.assign(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to));
    };
    part->documents.given = texts.documents.given;
    cut(texts.documents.texts, part->documents.texts);
    cut(texts.documents.tokens, part->documents.tokens);
    cut(texts.documents.missing, part->documents.missing);
    part->kept = texts.kept;
    for (const std::string_view text : part->documents.texts) part->bytes += text.size();
    for (const Tokens& tokens : part->documents.tokens)
        for (const std::string_view token : tokens) part->bytes += token.size();
    return part;
}

std::unique_ptr<Texts> taken_of(const Texts& texts, const In1<std::int64_t>& rows) {
    require(texts.odd < 0, "there are no such rows");
    auto part = std::make_unique<Texts>();
    const Documents& from = texts.documents;
    Documents& to = part->documents;
    to.given = from.given;
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
        const std::int64_t row = rows.data()[i];
        require(row >= 0 && static_cast<std::size_t>(row) < from.size(), "there is no such row");
        const auto at = static_cast<std::size_t>(row);
        if (from.given) {
            to.tokens.push_back(from.tokens[at]);
            for (const std::string_view token : from.tokens[at]) part->bytes += token.size();
        } else {
            to.texts.push_back(from.texts[at]);
            part->bytes += from.texts[at].size();
        }
        if (!from.missing.empty()) to.missing.push_back(from.missing[at]);
    }
    part->kept = texts.kept;
    return part;
}

std::unique_ptr<Texts> joined_texts(const nb::list& parts) {
    auto all = std::make_unique<Texts>();
    Documents& documents = all->documents;
    for (nb::handle item : parts) {
        const Texts& part = nb::cast<const Texts&>(item);
        require(part.odd < 0 && !part.documents.given, "only texts can be joined");
        const std::size_t before = documents.texts.size();
        documents.texts.insert(documents.texts.end(), part.documents.texts.begin(), part.documents.texts.end());
        if (!part.documents.missing.empty() || !documents.missing.empty()) {
            documents.missing.resize(before, 0);
            documents.missing.insert(documents.missing.end(), part.documents.missing.begin(),
                                     part.documents.missing.end());
            documents.missing.resize(documents.texts.size(), 0);
        }
        all->kept.insert(all->kept.end(), part.kept.begin(), part.kept.end());
        all->bytes += part.bytes;
    }
    return all;
}

// A vocabulary grows in place. Many may read it at once; who lets it grow is alone. Whoever waits for it, or holds it,
// has let go of the interpreter.
struct SharedVocabulary {
    explicit SharedVocabulary(std::uint64_t seed) : table(seed) {}
    Vocabulary table;
    mutable std::shared_mutex guard;
};

using Reading = std::shared_lock<std::shared_mutex>;
using Writing = std::unique_lock<std::shared_mutex>;

struct Rules {
    TokenRules rules;
    std::unique_ptr<Vocabulary> stop;
};

std::unique_ptr<Rules> rules_of(int kind, bool lower, bool negation, std::size_t shortest, std::size_t longest,
                                const nb::object& stop) {
    require(kind >= 0 && kind <= 3, "there is no such kind of token");
    require(shortest >= 1 && shortest <= longest && longest <= 255, "n-grams have 1 to 255 words");
    auto rules = std::make_unique<Rules>();
    rules->rules = {{static_cast<TokenKind>(kind), lower, negation}, shortest, longest, nullptr};
    if (!stop.is_none()) {
        rules->stop = std::make_unique<Vocabulary>(0);
        Texts scratch;
        for (nb::handle item : tuple_of(stop)) {
            std::string_view word;
            require(view_of(item, scratch, word), "stop words must be text");
            rules->stop->find_or_add(rules->stop->word(word));
        }
        rules->rules.stop = rules->stop.get();
    }
    return rules;
}

// Whether all weights are whole, and few enough to be added up in units of 2^-32.
bool whole_weights(const std::optional<In1<double>>& weight) {
    if (!weight) return true;
    double sum = 0.0;
    for (std::size_t i = 0; i < weight->shape(0); ++i) {
        if (weight->data()[i] != std::floor(weight->data()[i])) return false;
        sum += weight->data()[i];
    }
    return sum < 1073741824.0;
}

template <class T>
nb::tuple planes_out(Cells<T>&& cells, bool weights) {
    const std::size_t size = cells.feature.size(), planes = weights ? 3 : 2;
    return nb::make_tuple(array_of(std::move(cells.feature)), array_of(std::move(cells.klass)),
                          array_of(std::move(cells.value), {planes, size}));
}

template <class T>
nb::tuple count_texts_typed(const Texts& texts, const Labels& labels, const Rules& rules, bool weights, int threads,
                            SharedVocabulary& vocabulary) {
    Cells<T> cells;
    {
        nb::gil_scoped_release free;
        const Writing alone(vocabulary.guard);
        cells = count_texts<T>(texts.documents, labels, rules.rules, weights, threads, vocabulary.table);
    }
    return planes_out(std::move(cells), weights);
}

nb::tuple count_texts_py(const Texts& texts, const In1<std::int32_t>& klass, std::size_t classes,
                         std::optional<In1<double>> weight, const Rules& rules, bool weights, int threads,
                         SharedVocabulary& vocabulary) {
    require(texts.odd < 0, "a row is no text");
    const Labels labels = labels_of(klass, classes, weight, texts.documents.size());
    return whole_weights(weight)
               ? count_texts_typed<std::int64_t>(texts, labels, rules, weights, threads, vocabulary)
               : count_texts_typed<double>(texts, labels, rules, weights, 1, vocabulary);  // in one order
}

template <class T>
nb::tuple count_buckets_typed(const Texts& texts, const Labels& labels, const Rules& rules, bool weights, int threads,
                              std::uint32_t buckets) {
    Cells<T> cells;
    BucketNames names;
    {
        nb::gil_scoped_release free;
        cells = count_buckets<T>(texts.documents, labels, rules.rules, weights, threads, buckets, names);
    }
    nb::list listed;
    for (const std::string& name : names.name) listed.append(nb::bytes(name.data(), name.size()));
    return nb::make_tuple(planes_out(std::move(cells), weights), array_of(std::move(names.bucket)), listed,
                          array_of(std::move(names.lead)));
}

nb::tuple count_buckets_py(const Texts& texts, const In1<std::int32_t>& klass, std::size_t classes,
                           std::optional<In1<double>> weight, const Rules& rules, bool weights, int threads,
                           std::uint32_t buckets) {
    require(texts.odd < 0, "a row is no text");
    require(buckets >= 1 && buckets <= (1u << 31) - 1, "there must be 1 to 2**31 - 1 buckets");
    const Labels labels = labels_of(klass, classes, weight, texts.documents.size());
    return whole_weights(weight) ? count_buckets_typed<std::int64_t>(texts, labels, rules, weights, threads, buckets)
                                 : count_buckets_typed<double>(texts, labels, rules, weights, 1, buckets);
}

template <class T, class I>
nb::tuple count_rows_typed(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads,
                           std::size_t vocabulary) {
    Cells<T> cells;
    {
        nb::gil_scoped_release free;
        cells = count_rows<T>(rows, labels, weights, threads, vocabulary);
    }
    return planes_out(std::move(cells), weights);
}

template <class I>
nb::tuple count_rows_py(const In1<std::int64_t>& starts, const In1<I>& number, const In1<std::int32_t>& count,
                        std::optional<In1<double>> known, std::size_t vocabulary, const In1<std::int32_t>& klass,
                        std::size_t classes, std::optional<In1<double>> weight, bool weights, int threads) {
    require(starts.shape(0) >= 1 && starts.data()[0] >= 0, "starts must not be empty, nor below zero");
    require(vocabulary < no_number, "a vocabulary holds at most 2**32 - 2 names");
    const std::size_t rows = starts.shape(0) - 1, entries = number.shape(0);
    require(count.shape(0) == entries && (!known || known->shape(0) == entries),
            "one count, and one weight, is needed for each number");
    for (std::size_t i = 0; i < rows; ++i) require(starts.data()[i] <= starts.data()[i + 1], "starts must not fall");
    require(static_cast<std::size_t>(starts.data()[rows]) <= entries, "starts go beyond the numbers");
    for (std::size_t i = 0; i < entries; ++i) {
        const I n = number.data()[i];
        require(n < 0 || static_cast<std::uint64_t>(n) < vocabulary, "a number is not of the vocabulary");
        require(count.data()[i] > 0, "a word must be there once at least");
        require(!known || (known->data()[i] >= 0.0 && known->data()[i] <= 1.0), "weights must be within 0 and 1");
    }
    const Labels labels = labels_of(klass, classes, weight, rows);
    const CountedRows<I> counted{starts.data(), number.data(), count.data(), known ? known->data() : nullptr, rows};
    return whole_weights(weight) ? count_rows_typed<std::int64_t>(counted, labels, weights, threads, vocabulary)
                                 : count_rows_typed<double>(counted, labels, weights, 1, vocabulary);  // in one order
}

nb::tuple rows_out(TextRows&& rows) {
    return nb::make_tuple(array_of(std::move(rows.starts)), array_of(std::move(rows.column)),
                          array_of(std::move(rows.count)));
}

nb::tuple read_growing_py(const Texts& texts, const Rules& rules, int threads, SharedVocabulary& vocabulary) {
    require(texts.odd < 0, "a row is no text");
    TextRows rows;
    {
        nb::gil_scoped_release free;
        const Writing alone(vocabulary.guard);
        rows = read_growing(texts.documents, rules.rules, threads, vocabulary.table);
    }
    return rows_out(std::move(rows));
}

nb::tuple read_fixed_py(const Texts& texts, const Rules& rules, int threads, const SharedVocabulary& vocabulary,
                        std::optional<In1<std::int32_t>> place, std::size_t size) {
    require(texts.odd < 0, "a row is no text");
    require(!place || place->shape(0) >= size, "one place is needed for each number");
    TextRows rows;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        rows =
            read_fixed(texts.documents, rules.rules, threads, vocabulary.table, place ? place->data() : nullptr, size);
    }
    return rows_out(std::move(rows));
}

// A vocabulary in arrays that somebody else holds, as in a file.
struct Stored {
    In1<std::uint64_t> what;
    In1<std::uint32_t> length;
    In1<std::uint8_t> bytes;
    In1<std::uint64_t> words, sequences;

    StoredVocabulary table() const {
        return StoredVocabulary({what.data(), length.data(), what.shape(0), reinterpret_cast<const char*>(bytes.data()),
                                 bytes.shape(0), words.data(), words.shape(0), sequences.data(), sequences.shape(0)});
    }
};

std::unique_ptr<Stored> stored_of(const In1<std::uint64_t>& what, const In1<std::uint32_t>& length,
                                  const In1<std::uint8_t>& bytes, const In1<std::uint64_t>& words,
                                  const In1<std::uint64_t>& sequences) {
    const auto power = [](std::size_t n) { return (n & (n - 1)) == 0; };
    const auto aligned = [](const void* at, std::size_t to) { return reinterpret_cast<std::uintptr_t>(at) % to == 0; };
    require(aligned(what.data(), 8) && aligned(length.data(), 4) && aligned(words.data(), 8) &&
                aligned(sequences.data(), 8),
            "numbers must lie where they may");
    require(what.shape(0) == length.shape(0), "one length is needed for each name");
    require(power(words.shape(0)) && power(sequences.shape(0)), "the number of slots must be a power of two");
    return std::make_unique<Stored>(Stored{what, length, bytes, words, sequences});
}

nb::tuple read_stored_py(const Stored& vocabulary, const Texts& texts, const Rules& rules, int threads,
                         std::optional<In1<std::int32_t>> place, std::size_t size) {
    require(texts.odd < 0, "a row is no text");
    require(!place || place->shape(0) >= size, "one place is needed for each number");
    TextRows rows;
    {
        nb::gil_scoped_release free;
        const StoredVocabulary table = vocabulary.table();
        rows = read_fixed(texts.documents, rules.rules, threads, table, place ? place->data() : nullptr, size);
    }
    return rows_out(std::move(rows));
}

nb::tuple stored_names_py(const Stored& vocabulary, const In1<std::int64_t>& numbers) {
    std::vector<std::int64_t> ends;
    std::string all;
    const StoredVocabulary table = vocabulary.table();
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const std::int64_t number = numbers.data()[i];
        const bool known = number >= 0 && static_cast<std::size_t>(number) < table.size();
        require(known && table.append_name(static_cast<std::uint32_t>(number), all), "there is no such name");
        ends.push_back(static_cast<std::int64_t>(all.size()));
    }
    return nb::make_tuple(nb::bytes(all.data(), all.size()), array_of(std::move(ends)));
}

nb::tuple read_buckets_py(const Texts& texts, const Rules& rules, int threads, std::uint32_t buckets, bool with_signs) {
    require(texts.odd < 0, "a row is no text");
    require(buckets >= 1 && buckets <= (1u << 31) - 1, "there must be 1 to 2**31 - 1 buckets");
    TextRows rows;
    {
        nb::gil_scoped_release free;
        rows = read_buckets(texts.documents, rules.rules, threads, buckets, with_signs);
    }
    return rows_out(std::move(rows));
}

nb::tuple reorder_py(const In1<std::int64_t>& starts, const In1<std::int32_t>& column, const In1<std::int32_t>& count,
                     const In1<std::int32_t>& place, int threads) {
    require(starts.shape(0) >= 1 && starts.data()[0] == 0, "starts must begin with 0");
    const std::size_t rows = starts.shape(0) - 1, size = column.shape(0);
    require(count.shape(0) == size && static_cast<std::size_t>(starts.data()[rows]) == size, "rows differ in length");
    TextRows result;
    {
        nb::gil_scoped_release free;
        bool sound = true;
        for (std::size_t i = 0; i < rows; ++i) sound = sound && starts.data()[i] <= starts.data()[i + 1];
        for (std::size_t k = 0; k < size; ++k)
            sound = sound && column.data()[k] >= 0 && static_cast<std::size_t>(column.data()[k]) < place.shape(0);
        if (sound) result = reorder(starts.data(), column.data(), count.data(), rows, place.data(), threads);
        if (!sound) result.starts.clear();
    }
    require(!result.starts.empty(), "a column is out of range");
    return rows_out(std::move(result));
}

std::vector<std::uint32_t> numbers_of(const Vocabulary& table, const In1<std::int64_t>& numbers) {
    std::vector<std::uint32_t> result(numbers.shape(0));
    for (std::size_t i = 0; i < result.size(); ++i) {
        require(numbers.data()[i] >= 0 && static_cast<std::size_t>(numbers.data()[i]) < table.size(),
                "there is no such number");
        result[i] = static_cast<std::uint32_t>(numbers.data()[i]);
    }
    return result;
}

nb::object moved_out(const std::vector<std::uint32_t>& moved) {
    std::vector<std::int64_t> result(moved.size());
    std::transform(moved.begin(), moved.end(), result.begin(),
                   [](std::uint32_t n) { return n == no_number ? std::int64_t{-1} : static_cast<std::int64_t>(n); });
    return array_of(std::move(result));
}

nb::tuple store_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    StoredArrays arrays;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const Vocabulary& table = vocabulary.table;
        const std::vector<std::uint32_t> order = numbers_of(table, numbers);
        std::vector<std::uint32_t> place(table.size(), no_number);
        for (std::uint32_t at = 0; at < order.size(); ++at) {
            const std::uint32_t number = order[at];
            require(place[number] == no_number, "a name is there twice");
            const bool known = !table.sequence(number) ||
                               (place[table.before(number)] != no_number && place[table.last(number)] != no_number);
            require(known, "a sequence is there before its parts");
            place[number] = at;
        }
        arrays = store(table, order, place);
    }
    return nb::make_tuple(array_of(std::move(arrays.what)), array_of(std::move(arrays.length)),
                          array_of(std::move(arrays.bytes)), array_of(std::move(arrays.words)),
                          array_of(std::move(arrays.sequences)));
}

// The bytes of names, one after another, and where each ends.
nb::tuple names_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    std::vector<std::int64_t> ends;
    std::string all;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        for (const std::uint32_t number : numbers_of(vocabulary.table, numbers)) {
            vocabulary.table.append_name(number, all);
            ends.push_back(static_cast<std::int64_t>(all.size()));
        }
    }
    return nb::make_tuple(nb::bytes(all.data(), all.size()), array_of(std::move(ends)));
}

// The order of names, by their bytes, which is that of their characters.
nb::object order_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    struct Name {
        std::uint64_t head;  // the first eight bytes, the first highest
        std::size_t begin, length;
        std::int64_t at;
    };
    std::vector<std::int64_t> order;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const std::vector<std::uint32_t> wanted = numbers_of(vocabulary.table, numbers);
        std::string all;
        std::vector<Name> names;
        names.reserve(wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::size_t begin = all.size();
            vocabulary.table.append_name(wanted[i], all);
            std::uint64_t head = 0;
            for (std::size_t k = 0; k < 8; ++k)
                head = (head << 8) | (begin + k < all.size() ? static_cast<unsigned char>(all[begin + k]) : 0u);
            names.push_back({head, begin, all.size() - begin, static_cast<std::int64_t>(i)});
        }
        std::sort(names.begin(), names.end(), [&](const Name& a, const Name& b) {
            if (a.head != b.head) return a.head < b.head;
            return std::string_view(all.data() + a.begin, a.length) < std::string_view(all.data() + b.begin, b.length);
        });
        order.reserve(names.size());
        for (const Name& name : names) order.push_back(name.at);
    }
    return array_of(std::move(order));
}

// Looks a name up, or adds it; its parts where it is a sequence of words.
template <class Find>
std::uint32_t by_name(std::string_view name, bool split, Find&& find) {
    if (!split) return find(no_number, name);
    std::uint32_t number = no_number;
    for (std::size_t from = 0;;) {
        const std::size_t space = name.find(' ', from);
        number = find(from == 0 ? no_number : number, name.substr(from, space - from));
        if (number == no_number || space == std::string_view::npos) return number;
        from = space + 1;
    }
}

// Names as bytes, with what keeps them.
std::unique_ptr<Texts> names_of(const nb::object& names, bool split) {
    std::unique_ptr<Texts> texts = texts_of_list(names);
    require(texts->odd < 0 && texts->documents.missing.empty(), "names must be text");
    for (const std::string_view name : texts->documents.texts)
        require(!split || std::count(name.begin(), name.end(), ' ') < 255, "a name has at most 255 words");
    return texts;
}

nb::object find_py(const SharedVocabulary& vocabulary, const nb::object& names, bool split) {
    const std::unique_ptr<Texts> texts = names_of(names, split);
    std::vector<std::uint32_t> result;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const Vocabulary& table = vocabulary.table;
        for (const std::string_view name : texts->documents.texts)
            result.push_back(by_name(name, split, [&](std::uint32_t before, std::string_view word) {
                const std::uint32_t last = table.find(table.word(word));
                return before == no_number || last == no_number ? last : table.find(sequence_of(before, last));
            }));
    }
    return moved_out(result);
}

nb::object add_py(SharedVocabulary& vocabulary, const nb::object& names, bool split) {
    const std::unique_ptr<Texts> texts = names_of(names, split);
    std::vector<std::uint32_t> result;
    {
        nb::gil_scoped_release free;
        const Writing alone(vocabulary.guard);
        Vocabulary& table = vocabulary.table;
        for (const std::string_view name : texts->documents.texts)
            result.push_back(by_name(name, split, [&](std::uint32_t before, std::string_view word) {
                const std::uint32_t last = table.find_or_add(table.word(word));
                return before == no_number ? last : table.find_or_add(sequence_of(before, last));
            }));
    }
    return moved_out(result);
}

// Takes in the first `size` things of another vocabulary: the number that each has here, and how many there are then.
// Refused (None) where this one has already grown beyond `known`.
nb::object absorb_py(SharedVocabulary& vocabulary, std::size_t known, const SharedVocabulary& other, std::size_t size) {
    require(&vocabulary != &other, "a vocabulary cannot absorb itself");
    std::vector<std::uint32_t> moved;
    std::size_t total = 0;
    bool grown = false, fits = false;
    {
        nb::gil_scoped_release free;
        Reading among_others(other.guard, std::defer_lock);
        Writing alone(vocabulary.guard, std::defer_lock);
        std::lock(alone, among_others);
        fits = size <= other.table.size();
        grown = vocabulary.table.size() != known;
        if (!grown && fits) {
            moved = vocabulary.table.absorb(other.table, size);
            moved.resize(size);
        }
        total = vocabulary.table.size();
    }
    require(fits, "the other is not that large");
    if (grown) return nb::none();
    return nb::make_tuple(moved_out(moved), total);
}

// A vocabulary of these alone (and of the words that sequences are made of); the number that each thing has there.
nb::tuple subset_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    auto result = std::make_unique<SharedVocabulary>(vocabulary.table.seed());
    std::vector<std::uint32_t> moved;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const std::vector<std::uint32_t> wanted = numbers_of(vocabulary.table, numbers);
        moved = result->table.absorb(vocabulary.table, wanted);
    }
    return nb::make_tuple(nb::cast(std::move(result)), moved_out(moved));
}

// As arrays: the bytes of words; for each thing its length (a sequence: -1), and the two parts of a sequence.
nb::tuple to_arrays_py(const SharedVocabulary& vocabulary, std::size_t size) {
    std::string bytes;
    std::vector<std::int64_t> length, before, last;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const Vocabulary& table = vocabulary.table;
        require(size <= table.size(), "the vocabulary is not that large");
        for (std::uint32_t n = 0; n < size; ++n) {
            const bool sequence = table.sequence(n);
            if (!sequence) bytes += table.word_of(n);
            length.push_back(sequence ? -1 : static_cast<std::int64_t>(table.word_of(n).size()));
            if (!sequence) continue;
            before.push_back(table.before(n));
            last.push_back(table.last(n));
        }
    }
    return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), array_of(std::move(length)),
                          array_of(std::move(before)), array_of(std::move(last)));
}

std::unique_ptr<SharedVocabulary> from_arrays_py(std::uint64_t seed, const nb::bytes& bytes,
                                                 const In1<std::int64_t>& length, const In1<std::int64_t>& before,
                                                 const In1<std::int64_t>& last) {
    auto result = std::make_unique<SharedVocabulary>(seed);
    Vocabulary& table = result->table;
    std::vector<std::uint8_t> depth;
    const std::string_view all(bytes.c_str(), bytes.size());
    std::size_t at = 0, sequences = 0;
    require(before.shape(0) == last.shape(0), "parts differ in length");
    for (std::size_t i = 0; i < length.shape(0); ++i) {
        std::uint32_t number;
        if (length.data()[i] >= 0) {
            const auto size = static_cast<std::size_t>(length.data()[i]);
            require(size <= all.size() - at, "a name lies outside the bytes");
            number = table.find_or_add(table.word(all.substr(at, size)));
            at += size;
            depth.push_back(1);
        } else {
            require(length.data()[i] == -1 && sequences < before.shape(0), "a sequence has no parts");
            const std::int64_t first = before.data()[sequences], second = last.data()[sequences];
            ++sequences;
            const auto known = static_cast<std::int64_t>(i);
            require(first >= 0 && first < known && second >= 0 && second < known, "a sequence names a part to come");
            require(depth[static_cast<std::size_t>(second)] == 1 && depth[static_cast<std::size_t>(first)] < 255,
                    "a sequence is one word after another");
            number =
                table.find_or_add(sequence_of(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)));
            depth.push_back(static_cast<std::uint8_t>(depth[static_cast<std::size_t>(first)] + 1));
        }
        require(number == i, "a name is there twice");
    }
    require(at == all.size() && sequences == before.shape(0), "bytes or parts are left over");
    return result;
}

std::size_t vocabulary_size(const SharedVocabulary& vocabulary) {
    nb::gil_scoped_release free;
    const Reading among_others(vocabulary.guard);
    return vocabulary.table.size();
}

template <class T>
nb::tuple encode_strings_py(const In1<T>& offsets, const In1<std::uint8_t>& data,
                            const std::optional<In1<std::uint8_t>>& missing, std::uint64_t seed) {
    const std::size_t rows = checked_offsets(offsets, data, missing);
    std::vector<std::int32_t> codes(rows);
    std::vector<std::int64_t> firsts;
    {
        nb::gil_scoped_release free;
        const Strings<T> strings{offsets.data(), reinterpret_cast<const char*>(data.data()), data.shape(0), rows,
                                 missing ? missing->data() : nullptr};
        firsts = encode_strings(strings, seed, codes.data());
    }
    return nb::make_tuple(array_of(std::move(codes)), array_of(std::move(firsts)));
}

}  // namespace

void naively::bind_text(nb::module_& m) {
    nb::class_<Texts>(m, "Texts")
        .def_static("of_list", &texts_of_list, nb::arg("texts"))
        .def_static("of_tokens", &texts_of_tokens, nb::arg("tokens"))
        .def_static("of_buffers", &texts_of_buffers<std::int32_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
                    nb::arg("missing").none())
        .def_static("of_buffers", &texts_of_buffers<std::int64_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
                    nb::arg("missing").none())
        .def_static("joined", &joined_texts, nb::arg("parts"))
        .def("part", &part_of, nb::arg("start"), nb::arg("stop"))
        .def("take", &taken_of, nb::arg("rows"))
        .def_prop_ro("odd", [](const Texts& self) { return self.odd; })
        .def_prop_ro("bytes", [](const Texts& self) { return self.bytes; })
        .def_prop_ro("missing",
                     [](const Texts& self) {
                         std::vector<std::uint8_t> marks(self.documents.missing.begin(), self.documents.missing.end());
                         return array_of(std::move(marks));
                     })
        .def("__len__", [](const Texts& self) { return self.documents.size(); });
    nb::class_<Rules>(m, "TokenRules")
        .def_static("of", &rules_of, nb::arg("kind"), nb::arg("lower"), nb::arg("negation"), nb::arg("shortest"),
                    nb::arg("longest"), nb::arg("stop").none());
    nb::class_<SharedVocabulary>(m, "Vocabulary")
        .def(nb::init<std::uint64_t>(), nb::arg("seed"))
        .def("__len__", &vocabulary_size)
        .def("names", &names_py, nb::arg("numbers"))
        .def("order", &order_py, nb::arg("numbers"))
        .def("find", &find_py, nb::arg("names"), nb::arg("split"))
        .def("add", &add_py, nb::arg("names"), nb::arg("split"))
        .def("absorb", &absorb_py, nb::arg("known"), nb::arg("other"), nb::arg("size"))
        .def("subset", &subset_py, nb::arg("numbers"))
        .def("to_arrays", &to_arrays_py, nb::arg("size"))
        .def("stored", &store_py, nb::arg("numbers"))
        .def_static("from_arrays", &from_arrays_py, nb::arg("seed"), nb::arg("bytes"), nb::arg("length"),
                    nb::arg("before"), nb::arg("last"));
    nb::class_<Stored>(m, "StoredVocabulary")
        .def_static("of", &stored_of, nb::arg("what"), nb::arg("length"), nb::arg("bytes"), nb::arg("words"),
                    nb::arg("sequences"))
        .def("names", &stored_names_py, nb::arg("numbers"))
        .def("read", &read_stored_py, nb::arg("texts"), nb::arg("rules"), nb::arg("threads"), nb::arg("place").none(),
             nb::arg("size"));
    m.def("encode_strings", &encode_strings_py<std::int32_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
          nb::arg("missing").none(), nb::arg("seed"));
    m.def("encode_strings", &encode_strings_py<std::int64_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
          nb::arg("missing").none(), nb::arg("seed"));
    m.def("count_texts", &count_texts_py, nb::arg("texts"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("rules"), nb::arg("weights"), nb::arg("threads"), nb::arg("vocabulary"));
    m.def("count_rows", &count_rows_py<std::int32_t>, nb::arg("starts"), nb::arg("number").noconvert(),
          nb::arg("count"), nb::arg("known").none(), nb::arg("vocabulary"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("weights"), nb::arg("threads"));
    m.def("count_rows", &count_rows_py<std::int64_t>, nb::arg("starts"), nb::arg("number").noconvert(),
          nb::arg("count"), nb::arg("known").none(), nb::arg("vocabulary"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("weights"), nb::arg("threads"));
    m.def("count_buckets", &count_buckets_py, nb::arg("texts"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("rules"), nb::arg("weights"), nb::arg("threads"), nb::arg("buckets"));
    m.def("read_growing", &read_growing_py, nb::arg("texts"), nb::arg("rules"), nb::arg("threads"),
          nb::arg("vocabulary"));
    m.def("read_fixed", &read_fixed_py, nb::arg("texts"), nb::arg("rules"), nb::arg("threads"), nb::arg("vocabulary"),
          nb::arg("place").none(), nb::arg("size"));
    m.def("read_buckets", &read_buckets_py, nb::arg("texts"), nb::arg("rules"), nb::arg("threads"), nb::arg("buckets"),
          nb::arg("with_signs"));
    m.def("reorder", &reorder_py, nb::arg("starts"), nb::arg("column"), nb::arg("count"), nb::arg("place"),
          nb::arg("threads"));
}
