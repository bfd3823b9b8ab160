// Bindings of counts of the values of number columns.
#include "columns/values.hpp"

#include <algorithm>

#include "bind/bind.hpp"

using namespace naively;

namespace {

// Counts as Python holds them: levels, bounds, ticks, and cells as features, classes, whole parts and fractions or
// None.
struct Held {
    In1<std::int8_t> level;
    In1<std::int64_t> bounds;
    In1<std::uint64_t> tick;
    In1<std::int64_t> feature;
    In1<std::int32_t> klass;
    In1<std::int64_t> whole;
    std::optional<In1<std::uint64_t>> fraction;

    explicit Held(const nb::tuple& arrays)
        : level(at<0, std::int8_t>(arrays)),
          bounds(at<1, std::int64_t>(arrays)),
          tick(at<2, std::uint64_t>(arrays)),
          feature(at<3, std::int64_t>(arrays)),
          klass(at<4, std::int32_t>(arrays)),
          whole(at<5, std::int64_t>(arrays)) {
        if (!arrays[6].is_none()) fraction = at<6, std::uint64_t>(arrays);
        const std::size_t cells = feature.shape(0);
        require(bounds.shape(0) == level.shape(0) + 1, "each column needs a level and bounds of its ticks");
        require(klass.shape(0) == cells && whole.shape(0) == cells && (!fraction || fraction->shape(0) == cells),
                "each cell needs a class and a count");
    }

    ValuesView view() const {
        return {level.shape(0), tick.shape(0),  feature.shape(0), level.data(), bounds.data(),
                tick.data(),    feature.data(), klass.data(),     whole.data(), fraction ? fraction->data() : nullptr};
    }

   private:
    template <std::size_t i, class T>
    static In1<T> at(const nb::tuple& arrays) {
        require(arrays.size() == 7, "counts of values are seven arrays");
        return nb::cast<In1<T>>(arrays[i]);
    }
};

// The counts; raises where they are unsound.
ValuesView sound_view(const Held& held) {
    const ValuesView view = held.view();
    require(sound(view), "these are no counts of values");
    return view;
}

nb::tuple values_out(Values&& values) {
    nb::object fraction = nb::none();
    if (!values.fraction.empty()) fraction = array_of(std::move(values.fraction));
    return nb::make_tuple(array_of(std::move(values.level)), array_of(std::move(values.bounds)),
                          array_of(std::move(values.tick)), array_of(std::move(values.feature)),
                          array_of(std::move(values.klass)), array_of(std::move(values.whole)), fraction);
}

nb::tuple count_values_py(const nb::list& list, const In1<std::int32_t>& klass, std::size_t classes,
                          std::optional<In1<double>> weight, const In1<std::int8_t>& level, int threads) {
    const std::size_t rows = klass.shape(0);
    const Labels labels = labels_of(klass, classes, weight, rows);
    const Arrays arrays(list, rows);
    require(level.shape(0) == arrays.arrays.size(), "one level is needed for each column");
    require(std::all_of(level.data(), level.data() + level.shape(0), is_level), "a level is 52, 18 or from 10 to 0");
    require(classes < (std::size_t{1} << 31), "too many classes");
    std::vector<NumberColumn> columns;
    for (const Any1& array : arrays.arrays)
        columns.push_back(typed(array, [](auto* values) { return NumberColumn(values); }));
    ValueCount count;
    {
        nb::gil_scoped_release free;
        count = count_values(columns, rows, labels, level.data(), threads);
    }
    return nb::make_tuple(values_out(std::move(count.values)), fault_out(count.fault));
}

nb::tuple added_values_py(const nb::tuple& left, const nb::tuple& right, bool subtract) {
    const Held a(left), b(right);
    const ValuesView x = sound_view(a), y = sound_view(b);
    require(x.columns == y.columns, "counts of values differ in their columns");
    Values sum;
    TooMuch too_much;
    {
        nb::gil_scoped_release free;
        sum = added(x, y, subtract, too_much);
    }
    if (!too_much.found) return nb::make_tuple(values_out(std::move(sum)), nb::none());
    const ValueCell& cell = too_much.cell;
    const auto level = static_cast<std::int8_t>(too_much.level);
    nb::object number = nb::none();
    if (cell.tick != no_tick) number = nb::cast(number_of(cell.tick << (exact_level - level)));
    return nb::make_tuple(nb::none(), nb::make_tuple(too_much.column, number, cell.klass));
}

nb::tuple coarser_values_py(const nb::tuple& values, const In1<std::int8_t>& level) {
    const Held held(values);
    const ValuesView view = sound_view(held);
    require(level.shape(0) == view.columns, "one level is needed for each column");
    require(std::all_of(level.data(), level.data() + level.shape(0), is_level), "a level is 52, 18 or from 10 to 0");
    Values result;
    {
        nb::gil_scoped_release free;
        result = coarser(view, level.data());
    }
    return values_out(std::move(result));
}

nb::tuple sums_of_values_py(const nb::tuple& values, const In1<bool>& wanted, const In1<std::int32_t>& place,
                            std::size_t present) {
    const Held held(values);
    const ValuesView view = sound_view(held);
    require(wanted.shape(0) == view.columns, "one mark is needed for each column");
    for (std::size_t k = 0; k < place.shape(0); ++k)
        require(place.data()[k] >= 0 && static_cast<std::size_t>(place.data()[k]) < present, "a place is out of range");
    for (std::size_t i = 0; i < view.cells; ++i)
        require(static_cast<std::size_t>(view.klass[i]) < place.shape(0), "a class is out of range");
    ExactNumbers sums;
    {
        nb::gil_scoped_release free;
        sums = sums_of(view, wanted.data(), place.data(), present);
    }
    return nb::make_tuple(array_of(std::move(sums.place)), array_of(std::move(sums.length)),
                          array_of(std::move(sums.digits)));
}

bool well_formed_values_py(const nb::tuple& values, std::size_t classes) {
    return well_formed(Held(values).view(), classes);
}

}  // namespace

namespace naively {

void bind_values(nb::module_& m) {
    m.def("count_values", &count_values_py, nb::arg("columns"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("level"), nb::arg("threads"));
    m.def("added_values", &added_values_py, nb::arg("left"), nb::arg("right"), nb::arg("subtract"));
    m.def("coarser_values", &coarser_values_py, nb::arg("values"), nb::arg("level"));
    m.def("sums_of_values", &sums_of_values_py, nb::arg("values"), nb::arg("wanted"), nb::arg("place"),
          nb::arg("present"));
    m.def("well_formed_values", &well_formed_values_py, nb::arg("values"), nb::arg("classes"));
}

}  // namespace naively
