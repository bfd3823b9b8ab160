// What the bindings share: arrays in and out, and checks of what comes in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "count.hpp"

namespace nb = nanobind;

namespace naively {

using Any2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Any1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

template <class T, class Room>
nb::object array_of(std::vector<T, Room>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<T, Room>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T, Room>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}

template <class T, class Room>
nb::object array_of(std::vector<T, Room>&& values) {
    const std::size_t size = values.size();
    return array_of(std::move(values), {size});
}

inline Labels labels_of(const In1<std::int32_t>& klass, std::size_t classes, const std::optional<In1<double>>& weight,
                        std::size_t rows) {
    require(klass.shape(0) == rows, "one label is needed for each row");
    require(!weight || weight->shape(0) == rows, "one weight is needed for each row");
    for (std::size_t i = 0; i < rows; ++i)
        require(klass.data()[i] >= 0 && static_cast<std::size_t>(klass.data()[i]) < classes, "a label is out of range");
    return {klass.data(), weight ? weight->data() : nullptr, classes};
}

// The part of the module that deals with texts.
void bind_text(nb::module_& m);

}  // namespace naively
