// Bindings of reading and counting texts.
#include "bind/text.hpp"

#include <cmath>
#include <string_view>

#include "base/hash.hpp"
#include "columns/encode.hpp"

using namespace naively;

namespace {

bool view_of(nb::handle item, Texts& texts, std::string_view& view) {
    if (PyUnicode_Check(item.ptr())) {
        Py_ssize_t size = 0;
        const char* data = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
        // A lone surrogate: Python writes it as three bytes that are invalid UTF-8, so it belongs to no word.
        if (!data) {
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

// A tuple keeps its items even if the list that they came from changes.
nb::tuple tuple_of(nb::handle items) {
    nb::object result = nb::steal(PySequence_Tuple(items.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    return nb::borrow<nb::tuple>(result);
}

}  // namespace

std::unique_ptr<Texts> naively::texts_of_list(const nb::object& list) {
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

namespace {

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

// True if all weights are whole, and small enough to be added up in units of 2^-32.
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
nb::tuple count_texts_typed(const Texts& texts, const Labels& labels, const Rules& rules, bool weights, int threads,
                            SharedVocabulary& vocabulary) {
    Cells<T> cells;
    {
        nb::gil_scoped_release free;
        const Writing alone(vocabulary.guard);
        cells = count_texts<T>(texts.documents, labels, rules.rules, weights, threads, vocabulary.table);
    }
    return cells_out(std::move(cells), weights ? 3 : 2);
}

nb::tuple count_texts_py(const Texts& texts, const In1<std::int32_t>& klass, std::size_t classes,
                         std::optional<In1<double>> weight, const Rules& rules, bool weights, int threads,
                         SharedVocabulary& vocabulary) {
    require(texts.odd < 0, "a row is no text");
    const Labels labels = counted_labels(klass, classes, weight, texts.documents.size());
    return whole_weights(weight) ? count_texts_typed<std::int64_t>(texts, labels, rules, weights, threads, vocabulary)
                                 : count_texts_typed<FixedPoint>(texts, labels, rules, weights, threads, vocabulary);
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
    return nb::make_tuple(cells_out(std::move(cells), weights ? 3 : 2), array_of(std::move(names.bucket)), listed,
                          array_of(std::move(names.lead)));
}

nb::tuple count_buckets_py(const Texts& texts, const In1<std::int32_t>& klass, std::size_t classes,
                           std::optional<In1<double>> weight, const Rules& rules, bool weights, int threads,
                           std::uint32_t buckets) {
    require(texts.odd < 0, "a row is no text");
    require(buckets >= 1 && buckets <= (1u << 31) - 1, "there must be 1 to 2**31 - 1 buckets");
    const Labels labels = counted_labels(klass, classes, weight, texts.documents.size());
    return whole_weights(weight) ? count_buckets_typed<std::int64_t>(texts, labels, rules, weights, threads, buckets)
                                 : count_buckets_typed<FixedPoint>(texts, labels, rules, weights, threads, buckets);
}

template <class T, class I>
nb::tuple count_rows_typed(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads,
                           std::size_t vocabulary) {
    Cells<T> cells;
    {
        nb::gil_scoped_release free;
        cells = count_rows<T>(rows, labels, weights, threads, vocabulary);
    }
    return cells_out(std::move(cells), weights ? 3 : 2);
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
    const Labels labels = counted_labels(klass, classes, weight, rows);
    const CountedRows<I> counted{starts.data(), number.data(), count.data(), known ? known->data() : nullptr, rows};
    return whole_weights(weight) ? count_rows_typed<std::int64_t>(counted, labels, weights, threads, vocabulary)
                                 : count_rows_typed<FixedPoint>(counted, labels, weights, threads, vocabulary);
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

// The bytes of all texts, where each begins and ends, and marks of missing ones (of length 0: none is missing).
nb::tuple buffers_of(const Texts& texts) {
    require(texts.odd < 0 && !texts.documents.given, "these are no plain texts");
    const Documents& from = texts.documents;
    std::vector<std::int64_t> starts{0};
    std::vector<std::uint8_t> data, missing(from.missing.begin(), from.missing.end());
    {
        nb::gil_scoped_release free;
        starts.reserve(from.size() + 1);
        data.reserve(texts.bytes);
        for (const std::string_view text : from.texts) {
            data.insert(data.end(), text.begin(), text.end());
            starts.push_back(static_cast<std::int64_t>(data.size()));
        }
    }
    return nb::make_tuple(array_of(std::move(starts)), array_of(std::move(data)), array_of(std::move(missing)));
}

// The tokens of each text as bytes, None for a missing one.
nb::list tokens_of(const Texts& texts) {
    require(texts.odd < 0 && texts.documents.given, "these are no lists of tokens");
    nb::list all;
    for (std::size_t i = 0; i < texts.documents.size(); ++i) {
        if (texts.documents.is_missing(i)) {
            all.append(nb::none());
            continue;
        }
        nb::list mine;
        for (const std::string_view token : texts.documents.tokens[i])
            mine.append(nb::bytes(token.data(), token.size()));
        all.append(mine);
    }
    return all;
}

// The number of bytes of each text.
nb::object lengths_of(const Texts& texts) {
    require(texts.odd < 0, "there are no such rows");
    const Documents& from = texts.documents;
    std::vector<std::int64_t> lengths(from.size(), 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (!from.given) {
            lengths[i] = static_cast<std::int64_t>(from.texts[i].size());
        } else {
            for (const std::string_view token : from.tokens[i]) lengths[i] += static_cast<std::int64_t>(token.size());
        }
    }
    return array_of(std::move(lengths));
}

// A hash for each text that depends on its bytes alone, in every process; 0 for a missing one.
nb::object hashes_of(const Texts& texts) {
    require(texts.odd < 0, "there are no such rows");
    const Documents& from = texts.documents;
    std::vector<std::uint64_t> hashes(from.size(), 0);
    {
        nb::gil_scoped_release free;
        const auto hash = [](std::string_view text, std::uint64_t seed) {
            return hash_bytes(text.data(), text.size(), load_head(text.data(), text.size()), seed);
        };
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            if (from.is_missing(i)) continue;
            if (!from.given) {
                hashes[i] = hash(from.texts[i], salt_b);
            } else {
                for (const std::string_view token : from.tokens[i]) hashes[i] = hash(token, hashes[i] ^ salt_b);
            }
        }
    }
    return array_of(std::move(hashes));
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
        .def("hashes", &hashes_of)
        .def("lengths", &lengths_of)
        .def("buffers", &buffers_of)
        .def("tokens", &tokens_of)
        .def_prop_ro("given", [](const Texts& self) { return self.documents.given; })
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
