// Texts and vocabularies as Python passes them, for the files that bind them.
// Each keeps the owners of its memory alive, and a vocabulary is locked while it is used.
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

// Texts as the core reads them, and the owners of their bytes.
struct Texts {
    Documents documents;
    std::vector<nb::object> kept;  // few objects: a large container counts as one
    std::int64_t odd = -1;         // the first row that is not a text
    std::size_t bytes = 0;
};

std::unique_ptr<Texts> texts_of_list(const nb::object& list);

// A vocabulary that grows in place. Many threads may read it at once; one alone may let it grow. A thread that waits
// for it or holds it has released the interpreter.
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
