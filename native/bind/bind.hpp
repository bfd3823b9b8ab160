// Helpers of all bindings: arrays in and out, and checks of their shapes and bounds.
// No kernel is called with an array that has not passed them, and kernels run without the interpreter.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "count/count.hpp"
#include "score/score.hpp"

namespace nb = nanobind;

namespace naively {

using Any2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Any1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

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

// Counts in fixed point as an array of (fraction, whole) pairs.
template <class Room>
nb::object array_of(std::vector<FixedPoint, Room>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<FixedPoint, Room>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<FixedPoint, Room>*>(p); });
    shape.push_back(2);
    auto* pairs = reinterpret_cast<std::uint64_t*>(kept->data());
    return nb::cast(nb::ndarray<nb::numpy, std::uint64_t>(pairs, shape.size(), shape.data(), owner));
}

// Counts in fixed point as whole numbers, if all are; the first side of the shape is that of the planes.
template <class Room>
nb::object planes_out(std::vector<FixedPoint, Room>&& values, std::vector<std::size_t> shape) {
    Large<std::int64_t> whole(values.size());
    const std::size_t planes = shape[0], size = planes ? values.size() / planes : 0;
    for (std::size_t p = 0; p < planes; ++p)
        for (std::size_t i = p * size; i < (p + 1) * size; ++i)
            if (!narrowed(values[i], bits_of_plane(p, planes), whole[i]))
                return array_of(std::move(values), std::move(shape));
    return array_of(std::move(whole), std::move(shape));
}

template <class Room>
nb::object planes_out(std::vector<std::int64_t, Room>&& values, std::vector<std::size_t> shape) {
    return array_of(std::move(values), std::move(shape));
}

template <class Room>
nb::object numbers_out(std::vector<FixedPoint, Room>&& values, std::vector<std::size_t> shape) {
    Large<std::int64_t> whole(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!narrowed(values[i], 0, whole[i])) return array_of(std::move(values), std::move(shape));
    return array_of(std::move(whole), std::move(shape));
}

inline nb::object numbers_out(Numbers&& numbers, std::vector<std::size_t> shape) {
    if (numbers.fixed.empty()) return array_of(std::move(numbers.whole), std::move(shape));
    return numbers_out(std::move(numbers.fixed), std::move(shape));
}

inline nb::object numbers_out(Numbers&& numbers) {
    const std::size_t size = numbers.size();
    return numbers_out(std::move(numbers), {size});
}

template <class T>
nb::tuple cells_out(Cells<T>&& cells, std::size_t planes) {
    const std::size_t size = cells.feature.size();
    return nb::make_tuple(array_of(std::move(cells.feature)), array_of(std::move(cells.klass)),
                          planes_out(std::move(cells.value), {planes, size}));
}

// Planes of counts as whole numbers or pairs.
template <class T>
using InPlanes = std::conditional_t<std::is_same_v<T, FixedPoint>, In3<std::uint64_t>, In2<T>>;

template <class T>
const T* planes_in(const InPlanes<T>& values) {
    if constexpr (std::is_same_v<T, FixedPoint>) {
        require(values.shape(2) == 2, "counts in fixed point are pairs");
        return reinterpret_cast<const FixedPoint*>(values.data());
    } else {
        return values.data();
    }
}

inline Labels labels_of(const In1<std::int32_t>& klass, std::size_t classes, const std::optional<In1<double>>& weight,
                        std::size_t rows) {
    require(klass.shape(0) == rows, "one label is needed for each row");
    require(!weight || weight->shape(0) == rows, "one weight is needed for each row");
    for (std::size_t i = 0; i < rows; ++i)
        require(klass.data()[i] >= 0 && static_cast<std::size_t>(klass.data()[i]) < classes, "a label is out of range");
    return {klass.data(), weight ? weight->data() : nullptr, classes, {}};
}

// Labels with weights in fixed point too.
inline Labels counted_labels(const In1<std::int32_t>& klass, std::size_t classes,
                             const std::optional<In1<double>>& weight, std::size_t rows) {
    Labels labels = labels_of(klass, classes, weight, rows);
    if (weight) labels.counted.reserve(rows);
    for (std::size_t i = 0; weight && i < rows; ++i) {
        require(weight->data()[i] >= 0.0, "weights must be 0 or more");
        labels.counted.emplace_back(weight->data()[i]);
    }
    return labels;
}

inline nb::object fault_out(const Fault& fault) {
    if (!fault) return nb::none();
    return nb::make_tuple(static_cast<int>(fault.kind), fault.row, fault.column);
}

// Call use(values) with the array's values in their own type.
template <class Array, class Use>
auto typed(const Array& array, Use&& use) {
    const auto type = array.dtype();
    if (type == nb::dtype<double>()) return use(static_cast<const double*>(array.data()));
    if (type == nb::dtype<float>()) return use(static_cast<const float*>(array.data()));
    if (type == nb::dtype<std::int64_t>()) return use(static_cast<const std::int64_t*>(array.data()));
    if (type == nb::dtype<std::int32_t>()) return use(static_cast<const std::int32_t*>(array.data()));
    if (type == nb::dtype<std::uint8_t>()) return use(static_cast<const std::uint8_t*>(array.data()));
    throw nb::type_error("values must be float64, float32, int64, int32 or uint8");
}

template <class Use>
auto on_dense(const Any2& array, Use&& use) {
    return typed(array, [&](auto* values) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(values)>>;
        return use(Dense<T>{values, array.shape(0), array.shape(1)});
    });
}

// Separate columns, each of its own type.
struct Arrays {
    std::vector<Any1> arrays;
    Arrays(const nb::list& list, std::size_t rows) {
        for (nb::handle item : list) {
            arrays.push_back(nb::cast<Any1>(item));
            require(arrays.back().shape(0) == rows, "columns differ in length");
        }
    }
};

// The number of texts; raises if one lies outside the data.
template <class T>
std::size_t checked_offsets(const In1<T>& offsets, const In1<std::uint8_t>& data,
                            const std::optional<In1<std::uint8_t>>& missing) {
    require(offsets.shape(0) >= 1, "offsets must not be empty");
    const std::size_t size = offsets.shape(0) - 1;
    require(!missing || missing->shape(0) == size, "one mark is needed for each text");
    const T* at = offsets.data();
    bool sound = at[0] >= 0 && static_cast<std::size_t>(at[size]) <= data.shape(0);
    for (std::size_t i = 0; i < size; ++i) sound &= at[i] <= at[i + 1];
    require(sound, "a text lies outside the data");
    return size;
}

// An array for rows x classes scores, filled by work(out), which runs without the interpreter.
template <class Work>
nb::tuple scores(std::size_t rows, std::size_t classes, Work&& work) {
    require(classes == 0 || rows <= static_cast<std::size_t>(-1) / 8 / classes, "too many scores");
    std::unique_ptr<double[]> out(new double[rows * classes]);
    Findings findings;
    {
        nb::gil_scoped_release free;
        findings = work(out.get());
    }
    double* kept = out.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    const std::size_t shape[2] = {rows, classes};
    return nb::make_tuple(nb::cast(nb::ndarray<nb::numpy, double>(kept, 2, shape, owner)), findings.missing,
                          fault_out(findings.fault));
}

// The parts of the module, one per file.
void bind_cells(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_records(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_text(nb::module_& m);
void bind_values(nb::module_& m);
void bind_vocabularies(nb::module_& m);

}  // namespace naively
