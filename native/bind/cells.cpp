// Bindings of growing sums of cells.
#include <algorithm>
#include <mutex>

#include "bind/bind.hpp"
#include "count/cell_sum.hpp"

using namespace naively;

namespace {

// A sum that one thread at a time adds to. A thread that waits for it or holds it has released the interpreter.
struct GrowingCells {
    explicit GrowingCells(std::size_t planes_) : planes(planes_), sum(planes_) {}
    std::size_t planes;
    CellSum sum;
    std::mutex guard;
};

void add_py(GrowingCells& cells, const In1<std::int64_t>& feature, const In1<std::int32_t>& klass,
            const In2<std::int64_t>& values) {
    const std::size_t size = feature.shape(0);
    require(values.shape(0) == cells.planes, "another number of planes");
    require(klass.shape(0) == size && values.shape(1) == size, "cells differ in length");
    const auto known = [](std::int64_t f) { return f >= 0 && f < CellSum::features; };
    require(std::all_of(feature.data(), feature.data() + size, known), "a feature is out of range");
    require(std::all_of(klass.data(), klass.data() + size, [](std::int32_t k) { return k >= 0; }),
            "a class is out of range");
    const nb::gil_scoped_release free;
    const std::lock_guard<std::mutex> alone(cells.guard);
    cells.sum.add({feature.data(), klass.data(), values.data(), size});
}

nb::tuple take_py(GrowingCells& cells) {
    Cells<std::int64_t> result;
    {
        const nb::gil_scoped_release free;
        const std::lock_guard<std::mutex> alone(cells.guard);
        result = cells.sum.take();
    }
    const std::size_t size = result.feature.size();
    return nb::make_tuple(array_of(std::move(result.feature)), array_of(std::move(result.klass)),
                          array_of(std::move(result.value), {cells.planes, size}));
}

}  // namespace

void naively::bind_cells(nb::module_& m) {
    nb::class_<GrowingCells>(m, "CellSum")
        .def(nb::init<std::size_t>(), nb::arg("planes"))
        .def("add", &add_py, nb::arg("feature"), nb::arg("klass"), nb::arg("values").noconvert())
        .def("take", &take_py);
}
