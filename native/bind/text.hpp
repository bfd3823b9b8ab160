// Texts and vocabularies as Python hands them over, for the files that bind them.
#pragma once

#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "text/text.hpp"

namespace naively {

// Texts as the core reads them, with whatever keeps their bytes where they are.
struct Texts {
    Documents documents;
    std::vector<nb::object> kept;  // few: what holds many is one of them
    std::int64_t odd = -1;         // the first row that is no text
    std::size_t bytes = 0;
};

std::unique_ptr<Texts> texts_of_list(const nb::object& list);

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

inline nb::tuple rows_out(TextRows&& rows) {
    return nb::make_tuple(array_of(std::move(rows.starts)), array_of(std::move(rows.column)),
                          array_of(std::move(rows.count)));
}

}  // namespace naively
