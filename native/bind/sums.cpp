// Bindings of exact numbers and their sums.
#include "bind/bind.hpp"
#include "count/exact_products.hpp"
#include "count/exact_sums.hpp"

using namespace naively;

namespace {

using Places = In1<std::int8_t>;
using Lengths = In1<std::uint8_t>;
using Digits = In1<Digit>;

// Exact numbers as Python holds them: places, lengths and digits.
struct Numbers {
    Places place;
    Lengths length;
    Digits digits;

    ExactView view() const {
        const std::size_t size = place.shape(0);
        require(length.shape(0) == size, "each number needs a place and a length");
        std::size_t needed = 0;
        bool inside = true;
        for (std::size_t i = 0; i < size; ++i) {
            const int low = place.data()[i], end = low + length.data()[i];
            inside &= low >= lowest_place && end <= end_of_places;
            needed += length.data()[i];
        }
        require(inside && needed == digits.shape(0), "these are no exact numbers");
        return {place.data(), length.data(), digits.data(), size, needed};
    }
};

Numbers numbers_of(const nb::tuple& arrays) {
    require(arrays.size() == 3, "exact numbers are places, lengths and digits");
    return {nb::cast<Places>(arrays[0]), nb::cast<Lengths>(arrays[1]), nb::cast<Digits>(arrays[2])};
}

nb::tuple numbers_out(ExactNumbers&& numbers) {
    return nb::make_tuple(array_of(std::move(numbers.place)), array_of(std::move(numbers.length)),
                          array_of(std::move(numbers.digits)));
}

// Call work() without the interpreter.
template <class Work>
auto freely(Work&& work) {
    nb::gil_scoped_release free;
    return work();
}

nb::tuple count_out(ExactCount&& count) {
    return nb::make_tuple(numbers_out(std::move(count.sums)), fault_out(count.fault));
}

nb::tuple count_exactly_py(const Any2& rows, const In1<std::int32_t>& klass, std::size_t classes,
                           std::optional<In1<double>> weight, int threads) {
    const Labels labels = labels_of(klass, classes, weight, rows.shape(0));
    return count_out(freely(
        [&] { return on_dense(rows, [&](const auto& dense) { return count_exactly(dense, labels, threads); }); }));
}

nb::tuple count_columns_exactly_py(const nb::list& list, const In1<std::int32_t>& klass, std::size_t classes,
                                   std::optional<In1<double>> weight, int threads) {
    const std::size_t rows = klass.shape(0);
    const Labels labels = labels_of(klass, classes, weight, rows);
    const Arrays arrays(list, rows);
    NumberColumns columns{{}, rows, arrays.arrays.size()};
    for (const Any1& array : arrays.arrays)
        columns.column.push_back(typed(array, [](auto* values) { return NumberColumn(values); }));
    return count_out(freely([&] { return count_exactly(columns, labels, threads); }));
}

nb::tuple count_products_exactly_py(const In2<double>& rows, const In1<std::int32_t>& klass, std::size_t classes,
                                    std::optional<In1<double>> weight, int threads) {
    const Labels labels = labels_of(klass, classes, weight, rows.shape(0));
    const Dense<double> dense{rows.data(), rows.shape(0), rows.shape(1)};
    return numbers_out(freely([&] { return count_products_exactly(dense, labels, threads); }));
}

bool well_formed_py(const Places& place, const Lengths& length, const Digits& digits) {
    require(length.shape(0) == place.shape(0), "each number needs a place and a length");
    return well_formed({place.data(), length.data(), digits.data(), place.shape(0), digits.shape(0)});
}

nb::tuple added_py(const nb::tuple& left, const nb::tuple& right, bool subtract) {
    const Numbers a = numbers_of(left), b = numbers_of(right);
    const ExactView x = a.view(), y = b.view();
    require(x.size == y.size, "exact numbers differ in length");
    return numbers_out(freely([&] { return added(x, y, subtract); }));
}

nb::tuple taken_py(const nb::tuple& arrays, const In1<std::int64_t>& index) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    for (std::size_t i = 0; i < index.shape(0); ++i)
        require(index.data()[i] < static_cast<std::int64_t>(view.size), "an index is out of range");
    return numbers_out(freely([&] { return taken(view, index.data(), index.shape(0)); }));
}

nb::tuple totals_py(const nb::tuple& arrays, std::size_t outer, std::size_t middle, std::size_t inner, int threads) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    require(outer * middle * inner == view.size, "the axes do not fit the numbers");
    return numbers_out(freely([&] { return totals(view, outer, middle, inner, threads); }));
}

nb::tuple exactly_py(const In1<double>& values) {
    for (std::size_t i = 0; i < values.shape(0); ++i) require(std::isfinite(values.data()[i]), "values must be finite");
    return numbers_out(freely([&] { return exactly(values.data(), values.shape(0)); }));
}

nb::object signs_py(const nb::tuple& arrays) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    return array_of(freely([&] { return signs(view); }));
}

nb::object rounded_py(const nb::tuple& arrays) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    return array_of(freely([&] { return rounded(view); }));
}

nb::tuple moments_py(const nb::tuple& arrays, int threads) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    require(view.size % 3 == 0, "three sums are needed for each class and column");
    Moments moments = freely([&] { return moments_of(view, threads); });
    return nb::make_tuple(array_of(std::move(moments.n)), array_of(std::move(moments.mean)),
                          array_of(std::move(moments.variance)));
}

nb::object covariances_py(const nb::tuple& arrays, int threads) {
    const Numbers numbers = numbers_of(arrays);
    const ExactView view = numbers.view();
    require(view.size % 4 == 0, "four sums are needed for each pair");
    return array_of(freely([&] { return covariances_of(view, threads); }));
}

}  // namespace

namespace naively {

void bind_sums(nb::module_& m) {
    m.def("count_exactly", &count_exactly_py, nb::arg("rows"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("threads"));
    m.def("count_columns_exactly", &count_columns_exactly_py, nb::arg("columns"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("threads"));
    m.def("count_products_exactly", &count_products_exactly_py, nb::arg("rows"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("threads"));
    m.def("exact_well_formed", &well_formed_py, nb::arg("place"), nb::arg("length"), nb::arg("digits"));
    m.def("exact_added", &added_py, nb::arg("left"), nb::arg("right"), nb::arg("subtract"));
    m.def("exact_taken", &taken_py, nb::arg("numbers"), nb::arg("index"));
    m.def("exact_totals", &totals_py, nb::arg("numbers"), nb::arg("outer"), nb::arg("middle"), nb::arg("inner"),
          nb::arg("threads"));
    m.def("exactly", &exactly_py, nb::arg("values"));
    m.def("exact_signs", &signs_py, nb::arg("numbers"));
    m.def("exact_rounded", &rounded_py, nb::arg("numbers"));
    m.def("exact_moments", &moments_py, nb::arg("sums"), nb::arg("threads"));
    m.def("exact_covariances", &covariances_py, nb::arg("sums"), nb::arg("threads"));
}

}  // namespace naively
