// The module _core: checks shapes and bounds, releases the interpreter, calls kernels.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/digamma.hpp"
#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "columns/bins.hpp"
#include "columns/encode.hpp"
#include "count/cells.hpp"
#include "count/count.hpp"
#include "score/decide.hpp"
#include "score/paths.hpp"
#include "score/score.hpp"

using namespace naively;

namespace {

struct SparseArrays {
    Any1 values, columns_of, starts;
    std::size_t columns;
};

template <class Use>
auto on_sparse(const SparseArrays& arrays, Use&& use) {
    require(arrays.starts.shape(0) >= 1, "indptr must not be empty");
    require(arrays.values.shape(0) == arrays.columns_of.shape(0), "data and indices must be equally long");
    require(arrays.columns_of.dtype() == arrays.starts.dtype(), "indices and indptr must be of one type");
    const bool narrow = arrays.starts.dtype() == nb::dtype<std::int32_t>();
    require(narrow || arrays.starts.dtype() == nb::dtype<std::int64_t>(), "indices must be int32 or int64");
    return typed(arrays.values, [&](auto* values) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(values)>>;
        const auto call = [&](auto index) {
            using I = decltype(index);
            return use(Sparse<T, I>{values, static_cast<const I*>(arrays.columns_of.data()),
                                    static_cast<const I*>(arrays.starts.data()), arrays.starts.shape(0) - 1,
                                    arrays.columns, arrays.values.shape(0)});
        };
        return narrow ? call(std::int32_t{}) : call(std::int64_t{});
    });
}

ValueRange accepts_of(double low, double high, std::optional<double> threshold) {
    return {low, high, threshold.has_value(), threshold.value_or(0.0)};
}

nb::tuple encode(const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& records) {
    std::vector<std::int32_t> codes(records.shape(0));
    std::vector<std::int64_t> firsts;
    {
        nb::gil_scoped_release free;
        firsts = encode_records(records.data(), records.shape(0), records.shape(1), codes.data());
    }
    return nb::make_tuple(array_of(std::move(codes)), array_of(std::move(firsts)));
}

template <class T>
nb::tuple sum_typed(const In1<std::int64_t>& left_feature, const In1<std::int32_t>& left_klass, const InPlanes<T>& left,
                    const In1<std::int64_t>& right_feature, const In1<std::int32_t>& right_klass,
                    const InPlanes<T>& right, bool subtract) {
    const std::size_t planes = left.shape(0);
    require(right.shape(0) == planes, "both sides must have the same planes");
    require(left.shape(1) == left_feature.shape(0) && left.shape(1) == left_klass.shape(0),
            "left cells differ in length");
    require(right.shape(1) == right_feature.shape(0) && right.shape(1) == right_klass.shape(0),
            "right cells differ in length");
    const CellsView<T> a{left_feature.data(), left_klass.data(), planes_in<T>(left), left.shape(1)};
    const CellsView<T> b{right_feature.data(), right_klass.data(), planes_in<T>(right), right.shape(1)};
    Cells<T> result;
    std::size_t at = 0;
    SumFault fault;
    {
        nb::gil_scoped_release free;
        fault = sum_cells(a, b, planes, subtract, result, at);
    }
    if (fault != SumFault::none) return nb::make_tuple(static_cast<int>(fault), at);
    return cells_out(std::move(result), planes);
}

template <class T>
nb::tuple regrouped_typed(const In1<std::int64_t>& feature, const In1<std::int32_t>& klass, const InPlanes<T>& values) {
    const std::size_t planes = values.shape(0), size = values.shape(1);
    require(feature.shape(0) == size && klass.shape(0) == size, "cells differ in length");
    const CellsView<T> cells{feature.data(), klass.data(), planes_in<T>(values), size};
    Cells<T> result;
    {
        nb::gil_scoped_release free;
        result = regrouped(cells, planes);
    }
    return cells_out(std::move(result), planes);
}

template <class T>
nb::object totals_typed(const In1<std::int32_t>& klass, const InPlanes<T>& values, std::size_t classes) {
    const std::size_t planes = values.shape(0), size = values.shape(1);
    require(klass.shape(0) == size, "cells differ in length");
    for (std::size_t i = 0; i < size; ++i)
        require(klass.data()[i] >= 0 && static_cast<std::size_t>(klass.data()[i]) < classes, "a class is out of range");
    require(classes < (std::size_t{1} << 40), "too many classes");
    return planes_out(totals(CellsView<T>{nullptr, klass.data(), planes_in<T>(values), size}, planes, classes),
                      {planes, classes});
}

// Convert whole counts to pairs of fixed point, plane by plane.
nb::object widened_py(const In2<std::int64_t>& values) {
    const std::size_t planes = values.shape(0), size = values.shape(1);
    Large<FixedPoint> wide(planes * size);
    for (std::size_t p = 0; p < planes; ++p)
        for (std::size_t i = p * size; i < (p + 1) * size; ++i)
            wide[i] = widened(values.data()[i], bits_of_plane(p, planes));
    return array_of(std::move(wide), {planes, size});
}

// Convert pairs to whole numbers, if all are; otherwise None.
nb::object narrowed_py(const In3<std::uint64_t>& values) {
    const FixedPoint* from = planes_in<FixedPoint>(values);
    return planes_out(Large<FixedPoint>(from, from + values.shape(0) * values.shape(1)),
                      {values.shape(0), values.shape(1)});
}

// Convert pairs to doubles, in the units of whole counts.
nb::object rounded_py(const In3<std::uint64_t>& values) {
    const std::size_t planes = values.shape(0), size = values.shape(1);
    const FixedPoint* from = planes_in<FixedPoint>(values);
    Large<double> result(planes * size);
    for (std::size_t p = 0; p < planes; ++p)
        for (std::size_t i = p * size; i < (p + 1) * size; ++i)
            result[i] = std::ldexp(from[i].rounded(), bits_of_plane(p, planes));
    return array_of(std::move(result), {planes, size});
}

nb::object add_fixed_py(const In3<std::uint64_t>& left, const In3<std::uint64_t>& right, bool subtract) {
    require(left.shape(0) == right.shape(0) && left.shape(1) == right.shape(1), "both sides must have one shape");
    const FixedPoint *a = planes_in<FixedPoint>(left), *b = planes_in<FixedPoint>(right);
    Large<FixedPoint> sum(left.shape(0) * left.shape(1));
    for (std::size_t i = 0; i < sum.size(); ++i)
        if (!FixedPoint::add(a[i], subtract ? -b[i] : b[i], sum[i])) too_large();
    return planes_out(std::move(sum), {left.shape(0), left.shape(1)});
}

nb::object rows_per_class_py(const In1<std::int32_t>& klass, std::size_t classes, const In1<double>& weight) {
    const Labels labels = labels_of(klass, classes, weight, klass.shape(0));
    std::vector<FixedPoint> rows(classes);
    for (std::size_t i = 0; i < klass.shape(0); ++i) {
        require(labels.weight[i] >= 0.0, "weights must be 0 or more");
        rows[static_cast<std::size_t>(labels.klass[i])] += FixedPoint(labels.weight[i]);
    }
    return numbers_out(std::move(rows), {classes});
}

nb::tuple count_dense_py(const Any2& rows, const In1<std::int32_t>& klass, std::size_t classes,
                         std::optional<In1<double>> weight, double low, double high, std::optional<double> threshold,
                         int threads) {
    const Labels labels = labels_of(klass, classes, weight, rows.shape(0));
    const ValueRange accepts = accepts_of(low, high, threshold);
    DenseCount count;
    {
        nb::gil_scoped_release free;
        count = on_dense(rows, [&](const auto& dense) { return count_dense(dense, labels, accepts, threads); });
    }
    const std::size_t columns = rows.shape(1);
    const bool has_missing = !count.missing.empty();
    nb::object sum = numbers_out(std::move(count.sum), {classes, columns});
    nb::object missing = has_missing ? numbers_out(std::move(count.missing), {classes, columns}) : nb::none();
    return nb::make_tuple(sum, missing, fault_out(count.fault));
}

nb::tuple count_sparse_py(const Any1& values, const Any1& indices, const Any1& indptr, std::size_t columns,
                          const In1<std::int32_t>& klass, std::size_t classes, std::optional<In1<double>> weight,
                          double low, double high, std::optional<double> threshold, int threads) {
    require(indptr.shape(0) >= 1, "indptr must not be empty");
    const Labels labels = labels_of(klass, classes, weight, indptr.shape(0) - 1);
    const ValueRange accepts = accepts_of(low, high, threshold);
    SparseCount count;
    {
        nb::gil_scoped_release free;
        count = on_sparse({values, indices, indptr, columns},
                          [&](const auto& sparse) { return count_sparse(sparse, labels, accepts, threads); });
    }
    const auto out = [&](auto&& cells, auto&& missing) {
        nb::object missing_cells = nb::none();
        if (!missing.feature.empty()) missing_cells = cells_out(std::move(missing), 1);
        return nb::make_tuple(cells_out(std::move(cells), 1), missing_cells, fault_out(count.fault));
    };
    return count.whole ? out(std::move(count.cells), std::move(count.missing))
                       : out(std::move(count.fixed_cells), std::move(count.fixed_missing));
}

nb::tuple count_codes_py(const Any2& rows, const In1<std::int32_t>& klass, std::size_t classes,
                         std::optional<In1<double>> weight, std::int64_t largest, int threads) {
    const Labels labels = counted_labels(klass, classes, weight, rows.shape(0));
    CodeCount count;
    {
        nb::gil_scoped_release free;
        count = on_dense(rows, [&](const auto& dense) { return count_codes(dense, labels, largest, threads); });
    }
    const std::size_t total = count.sum.size() / (classes ? classes : 1);
    const bool has_missing = !count.missing.empty();
    return nb::make_tuple(array_of(std::move(count.sizes)), numbers_out(std::move(count.sum), {total, classes}),
                          has_missing ? numbers_out(std::move(count.missing), {rows.shape(1), classes}) : nb::none(),
                          fault_out(count.fault));
}

nb::tuple whole_codes_py(const Any1& values) {
    WholeCodes found;
    {
        nb::gil_scoped_release free;
        found = typed(values, [&](auto* x) { return whole_codes(x, values.shape(0)); });
    }
    return nb::make_tuple(array_of(std::move(found.codes)), array_of(std::move(found.distinct)), found.odd,
                          found.narrow);
}

nb::list count_whole_py(const nb::list& list, const In1<std::int32_t>& klass, std::size_t classes,
                        std::optional<In1<double>> weight, int threads) {
    const Labels labels = counted_labels(klass, classes, weight, klass.shape(0));
    const Arrays columns(list, klass.shape(0));
    std::vector<WholeCount> counts(columns.arrays.size());
    {
        nb::gil_scoped_release free;
        for_each_task(counts.size(), threads, [&](std::size_t j) {
            counts[j] = typed(columns.arrays[j], [&](auto* x) { return count_whole(x, klass.shape(0), labels); });
        });
    }
    nb::list result;
    for (WholeCount& count : counts)
        result.append(nb::make_tuple(nb::make_tuple(array_of(std::move(count.number)), array_of(std::move(count.klass)),
                                                    numbers_out(std::move(count.value))),
                                     numbers_out(std::move(count.missing)), count.odd, count.narrow));
    return result;
}

nb::object count_column_py(const In1<std::int32_t>& codes, const In1<std::int32_t>& klass, std::size_t classes,
                           std::optional<In1<double>> weight, std::size_t size) {
    const Labels labels = counted_labels(klass, classes, weight, codes.shape(0));
    require(size < (std::size_t{1} << 32) && classes < (std::size_t{1} << 40) / (size + 1), "too many codes");
    Numbers sums;
    bool sound = false;
    {
        nb::gil_scoped_release free;
        sound = count_column(codes.data(), codes.shape(0), labels, size, sums);
    }
    require(sound, "a code is out of range");
    return numbers_out(std::move(sums), {size + 1, classes});
}

nb::object description_length_cuts_py(const In2<double>& counts) {
    std::vector<std::int64_t> cuts;
    {
        nb::gil_scoped_release free;
        cuts = description_length_cuts(counts.data(), counts.shape(0), counts.shape(1));
    }
    return array_of(std::move(cuts));
}

Weights weights_of(const In2<double>& weight, const In1<double>& base, std::size_t classes, std::size_t columns) {
    require(weight.shape(0) == columns, "one row of weights is needed for each column");
    require(weight.shape(1) % lanes == 0 && classes <= weight.shape(1) && base.shape(0) == weight.shape(1),
            "weights must be padded to a multiple of four classes");
    return {weight.data(), base.data(), classes, weight.shape(1)};
}

nb::tuple score_dense_py(const Any2& rows, const In2<double>& weight, const In1<double>& base, std::size_t classes,
                         double low, double high, std::optional<double> threshold, int threads) {
    const Weights weights = weights_of(weight, base, classes, rows.shape(1));
    const ValueRange accepts = accepts_of(low, high, threshold);
    return scores(rows.shape(0), classes, [&](double* out) {
        return on_dense(rows, [&](const auto& dense) { return score_dense(dense, weights, accepts, out, threads); });
    });
}

nb::tuple score_sparse_py(const Any1& values, const Any1& indices, const Any1& indptr, const In2<double>& weight,
                          const In1<double>& base, std::size_t classes, double low, double high,
                          std::optional<double> threshold, int threads) {
    require(indptr.shape(0) >= 1, "indptr must not be empty");
    const Weights weights = weights_of(weight, base, classes, weight.shape(0));
    const ValueRange accepts = accepts_of(low, high, threshold);
    return scores(indptr.shape(0) - 1, classes, [&](double* out) {
        return on_sparse({values, indices, indptr, weight.shape(0)},
                         [&](const auto& sparse) { return score_sparse(sparse, weights, accepts, out, threads); });
    });
}

nb::tuple score_cells_py(const Any1& values, const Any1& indices, const Any1& indptr, const In1<std::int64_t>& starts,
                         const In1<std::int32_t>& klass_of, const In1<double>& delta, const In1<double>& feature,
                         const In1<double>& klass, const In1<double>& base, double low, double high,
                         std::optional<double> threshold, int threads) {
    const std::size_t classes = klass.shape(0), columns = feature.shape(0), size = delta.shape(0);
    require(indptr.shape(0) >= 1, "indptr must not be empty");
    require(base.shape(0) == classes && klass_of.shape(0) == size && starts.shape(0) == columns + 1,
            "cell weights differ in length");
    const CellWeights weights{starts.data(), klass_of.data(), delta.data(), feature.data(),
                              klass.data(),  base.data(),     classes,      size};
    const ValueRange accepts = accepts_of(low, high, threshold);
    return scores(indptr.shape(0) - 1, classes, [&](double* out) {
        return on_sparse({values, indices, indptr, columns},
                         [&](const auto& sparse) { return score_cells(sparse, weights, accepts, out, threads); });
    });
}

// An array of the given shape, filled by work(out), which runs without the interpreter.
template <class Work>
nb::object filled(std::vector<std::size_t> shape, Work&& work) {
    std::size_t size = 1;
    for (const std::size_t side : shape) {
        require(side == 0 || size <= (std::size_t{1} << 40) / side, "too many numbers");
        size *= side;
    }
    std::unique_ptr<double[]> out(new double[size]);
    {
        nb::gil_scoped_release free;
        work(out.get());
    }
    double* kept = out.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(kept, shape.size(), shape.data(), owner));
}

nb::object digamma_py(const In1<double>& values) {
    const double* x = values.data();
    for (std::size_t i = 0; i < values.shape(0); ++i) require(x[i] > 0.0, "digamma is of numbers above zero");
    return filled({values.shape(0)}, [&](double* out) {
        for (std::size_t i = 0; i < values.shape(0); ++i) out[i] = digamma(x[i]);
    });
}

constexpr const char* not_padded = "paths must be of one number, or padded to a multiple of four";
bool is_padded(std::size_t width) { return width == 1 || width % lanes == 0; }

nb::object score_paths_py(const Any1& values, const Any1& indices, const Any1& indptr, const In1<std::int64_t>& starts,
                          const In1<std::int32_t>& klass_of, const In1<std::int64_t>& row_of, const In2<double>& path,
                          const In2<double>& base, std::size_t path_length, int threads) {
    require(indptr.shape(0) >= 1 && starts.shape(0) >= 1, "indptr and starts must not be empty");
    require(klass_of.shape(0) == row_of.shape(0), "one row of the path is needed for each cell");
    require(is_padded(path.shape(1)) && base.shape(1) == path.shape(1) && path_length <= path.shape(1), not_padded);
    const std::size_t classes = base.shape(0), rows = indptr.shape(0) - 1;
    const CellPaths cells{starts.data(),       klass_of.data(),   row_of.data(), path.data(), base.data(),
                          starts.shape(0) - 1, klass_of.shape(0), path.shape(0), classes,     path.shape(1)};
    return filled({path_length, rows, classes}, [&](double* out) {
        on_sparse({values, indices, indptr, cells.features},
                  [&](const auto& sparse) { score_paths(sparse, cells, path_length, out, threads); });
    });
}

template <class I>
bool names_twice_py(const In1<I>& indices, const In1<I>& indptr, std::size_t columns) {
    require(indptr.shape(0) >= 1, "indptr must not be empty");
    require(columns <= (std::size_t{1} << 40), "too many columns");
    nb::gil_scoped_release free;
    return names_twice(indices.data(), indptr.data(), indptr.shape(0) - 1, columns, indices.shape(0));
}

nb::object sum_log_paths_py(const In1<double>& x, const In1<double>& left, const In1<std::int64_t>& starts,
                            const In1<double>& alpha, int threads) {
    require(starts.shape(0) >= 1, "starts must not be empty");
    require(x.shape(0) == left.shape(0), "x and left must be equally long");
    require(is_padded(alpha.shape(0)), not_padded);
    const std::size_t rows = starts.shape(0) - 1, entries = x.shape(0);
    for (std::size_t i = 0; i < rows; ++i)
        require(starts.data()[i] >= 0 && starts.data()[i] <= starts.data()[i + 1], "starts must not fall");
    require(starts.data()[rows] >= 0 && static_cast<std::size_t>(starts.data()[rows]) <= entries,
            "starts go beyond the entries");
    const LogPaths sums{x.data(), left.data(), starts.data(), rows, entries, alpha.data(), alpha.shape(0)};
    return filled({rows, sums.width}, [&](double* out) { sum_log_paths(sums, out, threads); });
}

nb::tuple score_normal_py(const Any2& rows, const In2<double>& mean, const In2<double>& half_precision,
                          const In2<double>& constant, const In1<double>& base, int threads) {
    const std::size_t classes = base.shape(0), columns = rows.shape(1);
    for (const auto* a : {&mean, &half_precision, &constant})
        require(a->shape(0) == classes && a->shape(1) == columns, "one value is needed for each class and column");
    const Normal normal{mean.data(), half_precision.data(), constant.data(), base.data(), classes};
    return scores(rows.shape(0), classes, [&](double* out) {
        return on_dense(rows, [&](const auto& dense) { return score_normal(dense, normal, out, threads); });
    });
}

template <class T>
nb::object look_up_typed(const In1<std::int64_t>& feature, const In1<std::int32_t>& klass, const InPlanes<T>& values,
                         const In1<std::int64_t>& wanted, const In1<std::int32_t>& wanted_klass) {
    const std::size_t planes = values.shape(0), size = values.shape(1), count = wanted.shape(0);
    require(feature.shape(0) == size && klass.shape(0) == size, "cells differ in length");
    require(wanted_klass.shape(0) == count, "wanted pairs differ in length");
    return array_of(look_up<T>({feature.data(), klass.data(), planes_in<T>(values), size}, planes, wanted.data(),
                               wanted_klass.data(), count),
                    {planes, count});
}

// Layers are tuples of feature, class and values; all have the same type of values.
template <class T>
nb::tuple gather_typed(const nb::list& layers, const In1<std::int64_t>& wanted) {
    std::vector<In1<std::int64_t>> features;
    std::vector<In1<std::int32_t>> classes;
    std::vector<InPlanes<T>> values;
    std::vector<CellsView<T>> views;
    for (nb::handle layer : layers) {
        const nb::tuple parts = nb::cast<nb::tuple>(layer);
        require(parts.size() == 3, "a layer is a tuple of feature, class and values");
        features.push_back(nb::cast<In1<std::int64_t>>(parts[0]));
        classes.push_back(nb::cast<In1<std::int32_t>>(parts[1]));
        values.push_back(nb::cast<InPlanes<T>>(parts[2]));
        const std::size_t size = values.back().shape(1);
        require(features.back().shape(0) == size && classes.back().shape(0) == size, "cells differ in length");
        require(values.back().shape(0) == values.front().shape(0), "all layers must have the same planes");
        views.push_back({features.back().data(), classes.back().data(), planes_in<T>(values.back()), size});
    }
    const std::size_t planes = values.empty() ? 1 : values.front().shape(0);
    return cells_out(gather(views, planes, wanted.data(), wanted.shape(0)), planes);
}

nb::tuple gather_py(const nb::list& layers, const In1<std::int64_t>& wanted, bool whole) {
    return whole ? gather_typed<std::int64_t>(layers, wanted) : gather_typed<FixedPoint>(layers, wanted);
}

nb::tuple histogram_change_py(const In2<std::int64_t>& before, const In2<std::int64_t>& added,
                              const In1<std::int32_t>& klass) {
    const std::size_t count = klass.shape(0);
    for (const auto* a : {&before, &added})
        require(a->shape(0) == 2 && a->shape(1) == count, "two planes are needed, as long as the classes");
    return cells_out(histogram_change(before.data(), added.data(), klass.data(), count), 1);
}

nb::object decide_py(const In2<double>& score, const In1<double>& prior) {
    const std::size_t classes = prior.shape(0);
    require(classes > 0 && score.shape(1) == classes, "one prior is needed for each class");
    std::vector<std::int64_t> out(score.shape(0));
    {
        nb::gil_scoped_release free;
        decide(score.data(), classes, prior.data(), score.shape(0), classes, out.data());
    }
    return array_of(std::move(out));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: arrays in, arrays out.";
    nb::set_leak_warnings(false);  // objects that live to the end of a program are not leaks
    m.def("encode", &encode, nb::arg("records"));
    m.def("sum_cells", &sum_typed<std::int64_t>, nb::arg("left_feature"), nb::arg("left_klass"),
          nb::arg("left").noconvert(), nb::arg("right_feature"), nb::arg("right_klass"), nb::arg("right").noconvert(),
          nb::arg("subtract"));
    m.def("sum_cells", &sum_typed<FixedPoint>, nb::arg("left_feature"), nb::arg("left_klass"),
          nb::arg("left").noconvert(), nb::arg("right_feature"), nb::arg("right_klass"), nb::arg("right").noconvert(),
          nb::arg("subtract"));
    m.def("regrouped", &regrouped_typed<std::int64_t>, nb::arg("feature"), nb::arg("klass"),
          nb::arg("values").noconvert());
    m.def("regrouped", &regrouped_typed<FixedPoint>, nb::arg("feature"), nb::arg("klass"),
          nb::arg("values").noconvert());
    m.def("totals", &totals_typed<std::int64_t>, nb::arg("klass"), nb::arg("values").noconvert(), nb::arg("classes"));
    m.def("totals", &totals_typed<FixedPoint>, nb::arg("klass"), nb::arg("values").noconvert(), nb::arg("classes"));
    m.def("widened", &widened_py, nb::arg("values").noconvert());
    m.def("narrowed", &narrowed_py, nb::arg("values").noconvert());
    m.def("fixed_rounded", &rounded_py, nb::arg("values").noconvert());
    m.def("fixed_added", &add_fixed_py, nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("subtract"));
    m.def("rows_per_class", &rows_per_class_py, nb::arg("klass"), nb::arg("classes"), nb::arg("weight"));
    m.def("digamma", &digamma_py, nb::arg("values"));
    m.def("count_dense", &count_dense_py, nb::arg("rows"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("low"), nb::arg("high"), nb::arg("threshold").none(), nb::arg("threads"));
    m.def("count_sparse", &count_sparse_py, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("columns"),
          nb::arg("klass"), nb::arg("classes"), nb::arg("weight").none(), nb::arg("low"), nb::arg("high"),
          nb::arg("threshold").none(), nb::arg("threads"));
    m.def("count_codes", &count_codes_py, nb::arg("rows"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("largest"), nb::arg("threads"));
    m.def("whole_codes", &whole_codes_py, nb::arg("values"));
    m.def("count_whole", &count_whole_py, nb::arg("columns"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("threads"));
    m.def("count_column", &count_column_py, nb::arg("codes"), nb::arg("klass"), nb::arg("classes"),
          nb::arg("weight").none(), nb::arg("size"));
    m.def("description_length_cuts", &description_length_cuts_py, nb::arg("counts"));
    m.def("score_dense", &score_dense_py, nb::arg("rows"), nb::arg("weight"), nb::arg("base"), nb::arg("classes"),
          nb::arg("low"), nb::arg("high"), nb::arg("threshold").none(), nb::arg("threads"));
    m.def("score_sparse", &score_sparse_py, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("weight"),
          nb::arg("base"), nb::arg("classes"), nb::arg("low"), nb::arg("high"), nb::arg("threshold").none(),
          nb::arg("threads"));
    m.def("score_cells", &score_cells_py, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("starts"),
          nb::arg("klass_of"), nb::arg("delta"), nb::arg("feature"), nb::arg("klass"), nb::arg("base"), nb::arg("low"),
          nb::arg("high"), nb::arg("threshold").none(), nb::arg("threads"));
    m.def("score_paths", &score_paths_py, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("starts"),
          nb::arg("klass_of"), nb::arg("row_of"), nb::arg("path"), nb::arg("base"), nb::arg("path_length"),
          nb::arg("threads"));
    m.def("names_twice", &names_twice_py<std::int32_t>, nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
          nb::arg("columns"));
    m.def("names_twice", &names_twice_py<std::int64_t>, nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
          nb::arg("columns"));
    m.def("sum_log_paths", &sum_log_paths_py, nb::arg("x"), nb::arg("left"), nb::arg("starts"), nb::arg("alpha"),
          nb::arg("threads"));
    m.def("score_normal", &score_normal_py, nb::arg("rows"), nb::arg("mean"), nb::arg("half_precision"),
          nb::arg("constant"), nb::arg("base"), nb::arg("threads"));
    m.def("look_up", &look_up_typed<std::int64_t>, nb::arg("feature"), nb::arg("klass"), nb::arg("values").noconvert(),
          nb::arg("wanted"), nb::arg("wanted_klass"));
    m.def("look_up", &look_up_typed<FixedPoint>, nb::arg("feature"), nb::arg("klass"), nb::arg("values").noconvert(),
          nb::arg("wanted"), nb::arg("wanted_klass"));
    m.def("gather", &gather_py, nb::arg("layers"), nb::arg("wanted"), nb::arg("whole"));
    m.def("histogram_change", &histogram_change_py, nb::arg("before").noconvert(), nb::arg("added").noconvert(),
          nb::arg("klass"));
    m.def("decide", &decide_py, nb::arg("score"), nb::arg("prior"));
    bind_cells(m);
    bind_columns(m);
    bind_records(m);
    bind_sums(m);
    bind_text(m);
    bind_values(m);
    bind_vocabularies(m);
}
