// Bindings of vocabularies: those that grow, and those that lie in arrays of a file.
#include <algorithm>
#include <string>
#include <string_view>

#include "bind/text.hpp"
#include "text/stored.hpp"

using namespace naively;

namespace {

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

// The order of names by their bytes, which is that of their characters.
nb::object order_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    struct Name {
        std::uint64_t head;  // the first eight bytes, the first of them highest
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

// Look a name up, or add it, with its parts if it is a sequence of words.
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

// Names as bytes, and their owners.
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

// The numbers of other names in a vocabulary, and its size afterwards; nothing if it has already grown beyond `known`.
struct Absorbed {
    bool done = false;
    std::vector<std::uint32_t> moved;
    std::size_t total = 0;
};

Absorbed absorb(Vocabulary& table, std::size_t known, const Names& other, std::size_t size) {
    if (table.size() != known) return {};
    std::vector<std::uint32_t> moved = table.absorb(other, size);
    return {true, std::move(moved), table.size()};
}

nb::object absorbed_out(const Absorbed& result) {
    return result.done ? nb::object(nb::make_tuple(moved_out(result.moved), result.total)) : nb::none();
}

// Add the first `size` names of another vocabulary. Returns their numbers here and the size afterwards, or None if this
// vocabulary has already grown beyond `known`.
nb::object absorb_py(SharedVocabulary& vocabulary, std::size_t known, const SharedVocabulary& other, std::size_t size) {
    require(&vocabulary != &other, "a vocabulary cannot absorb itself");
    Absorbed result;
    bool fits = false;
    {
        nb::gil_scoped_release free;
        Reading among_others(other.guard, std::defer_lock);
        Writing alone(vocabulary.guard, std::defer_lock);
        std::lock(alone, among_others);
        fits = size <= other.table.size();
        if (fits) result = absorb(vocabulary.table, known, other.table.names(), size);
    }
    require(fits, "the other is not that large");
    return absorbed_out(result);
}

// A vocabulary of these names alone (and of the words of their sequences), and the number of each name in it.
nb::tuple subset_py(const SharedVocabulary& vocabulary, const In1<std::int64_t>& numbers) {
    auto result = std::make_unique<SharedVocabulary>(vocabulary.table.seed());
    std::vector<std::uint32_t> moved;
    {
        nb::gil_scoped_release free;
        const Reading among_others(vocabulary.guard);
        const std::vector<std::uint32_t> wanted = numbers_of(vocabulary.table, numbers);
        moved = result->table.absorb(vocabulary.table.names(), wanted);
    }
    return nb::make_tuple(nb::cast(std::move(result)), moved_out(moved));
}

// As arrays: the bytes of words; for each name its length (for a sequence -1), and the two parts of a sequence.
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

// A vocabulary in arrays that a Python object owns, for example a file.
struct Stored {
    In1<std::uint64_t> what;
    In1<std::uint32_t> length;
    In1<std::uint8_t> bytes;
    In1<std::uint64_t> words, sequences;

    Names names() const {
        return {what.data(), length.data(), what.shape(0), reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
    }
    StoredVocabulary table() const {
        return StoredVocabulary({names(), words.data(), words.shape(0), sequences.data(), sequences.shape(0)});
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

// As `absorb_py`, for all names in stored arrays, which are checked.
nb::object absorb_stored_py(SharedVocabulary& vocabulary, std::size_t known, const Stored& other) {
    Absorbed result;
    const char* fault = nullptr;
    {
        nb::gil_scoped_release free;
        const Names names = other.names();
        fault = fault_of(names);
        if (fault == nullptr) {
            const Writing alone(vocabulary.guard);
            result = absorb(vocabulary.table, known, names, names.size);
        }
        std::vector<bool> seen(result.total, false);
        for (const std::uint32_t number : result.moved) {
            if (seen[number]) fault = "a name is there twice";
            seen[number] = true;
        }
    }
    require(fault == nullptr, fault);
    return absorbed_out(result);
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

}  // namespace

void naively::bind_vocabularies(nb::module_& m) {
    nb::class_<Stored>(m, "StoredVocabulary")
        .def_static("of", &stored_of, nb::arg("what"), nb::arg("length"), nb::arg("bytes"), nb::arg("words"),
                    nb::arg("sequences"))
        .def("names", &stored_names_py, nb::arg("numbers"))
        .def("read", &read_stored_py, nb::arg("texts"), nb::arg("rules"), nb::arg("threads"), nb::arg("place").none(),
             nb::arg("size"));
    nb::class_<SharedVocabulary>(m, "Vocabulary")
        .def(nb::init<std::uint64_t>(), nb::arg("seed"))
        .def("__len__", &vocabulary_size)
        .def("names", &names_py, nb::arg("numbers"))
        .def("order", &order_py, nb::arg("numbers"))
        .def("find", &find_py, nb::arg("names"), nb::arg("split"))
        .def("add", &add_py, nb::arg("names"), nb::arg("split"))
        .def("absorb", &absorb_py, nb::arg("known"), nb::arg("other"), nb::arg("size"))
        .def("absorb_stored", &absorb_stored_py, nb::arg("known"), nb::arg("other"))
        .def("subset", &subset_py, nb::arg("numbers"))
        .def("to_arrays", &to_arrays_py, nb::arg("size"))
        .def("stored", &store_py, nb::arg("numbers"))
        .def_static("from_arrays", &from_arrays_py, nb::arg("seed"), nb::arg("bytes"), nb::arg("length"),
                    nb::arg("before"), nb::arg("last"));
}
