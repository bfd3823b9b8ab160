// Bindings of columns of codes.
#include "columns/columns.hpp"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "bind/bind.hpp"

using namespace naively;

namespace {

// A column and the Python object that owns its memory.
struct HeldColumn {
    std::unique_ptr<const Column> column;
    std::vector<nb::object> kept;
};

std::unique_ptr<HeldColumn> held(std::unique_ptr<const Column> column, std::vector<nb::object> kept) {
    return std::make_unique<HeldColumn>(HeldColumn{std::move(column), std::move(kept)});
}

template <class T>
Strings<T> strings_of(const In1<T>& offsets, const In1<std::uint8_t>& data) {
    return {offsets.data(), reinterpret_cast<const char*>(data.data()), data.shape(0), offsets.shape(0) - 1, nullptr};
}

std::unique_ptr<KnownTexts> known_texts_of(const In1<std::int64_t>& offsets, const In1<std::uint8_t>& data,
                                           std::uint64_t seed) {
    checked_offsets<std::int64_t>(offsets, data, std::nullopt);
    return std::make_unique<KnownTexts>(strings_of(offsets, data), seed);
}

std::unique_ptr<KnownNumbers> known_numbers_of(const In1<std::int64_t>& numbers) {
    require(numbers.shape(0) < (std::size_t{1} << 31), "too many categories");
    return std::make_unique<KnownNumbers>(numbers.data(), numbers.shape(0));
}

// A hash for each value that depends on the value alone, whatever its type; 0 for a missing one.
nb::object hash_numbers_py(const Any1& values, std::uint64_t seed) {
    std::vector<std::uint64_t> hashes(values.shape(0), 0);
    typed(values, [&](auto* each) {
        nb::gil_scoped_release free;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const double value = static_cast<double>(each[i]) + 0.0;  // + 0.0 turns -0 into 0
            if (value == value) hashes[i] = hash_number(std::bit_cast<std::uint64_t>(value), seed);
        }
    });
    return array_of(std::move(hashes));
}

std::unique_ptr<HeldColumn> column_of_codes(const In1<std::int32_t>& codes) {
    return held(std::make_unique<CodeColumn>(codes.data(), codes.shape(0)), {nb::cast(codes)});
}

// The bounds of texts are checked when they are read.
template <class T>
std::unique_ptr<HeldColumn> column_of_texts(const In1<T>& offsets, const In1<std::uint8_t>& data,
                                            const std::optional<In1<std::uint8_t>>& there, std::size_t first,
                                            const nb::object& known) {
    require(offsets.shape(0) >= 1, "offsets must not be empty");
    const Strings<T> texts = strings_of(offsets, data);
    require(!there || (first <= 8 * there->shape(0) && texts.rows <= 8 * there->shape(0) - first),
            "one mark is needed for each text");
    std::vector<nb::object> kept{nb::cast(offsets), nb::cast(data), known};
    if (there) kept.push_back(nb::cast(*there));
    const Bits bits{there ? there->data() : nullptr, first};
    return held(std::make_unique<TextColumn<T>>(texts, bits, nb::cast<const KnownTexts&>(known)), std::move(kept));
}

std::unique_ptr<HeldColumn> column_of_bins(const Any1& values, const In1<double>& starts) {
    return typed(values, [&](auto* x) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        return held(std::make_unique<BinColumn<T>>(x, values.shape(0), starts.data(), starts.shape(0)),
                    {nb::cast(values)});
    });
}

std::unique_ptr<HeldColumn> column_of_numbers(const Any1& values, const nb::object& known) {
    const auto& numbers = nb::cast<const KnownNumbers&>(known);
    return typed(values, [&](auto* x) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(x)>>;
        return held(std::make_unique<WholeColumn<T>>(x, values.shape(0), numbers), {nb::cast(values), known});
    });
}

// The columns in a list, all with `rows` rows; `kept` owns their memory even if the list changes.
Columns columns_of(const nb::list& list, std::size_t rows, std::vector<nb::object>& kept) {
    Columns columns;
    for (nb::handle item : list) {
        kept.push_back(nb::borrow(item));
        columns.push_back(nb::cast<const HeldColumn&>(item).column.get());
        require(columns.back()->rows() == rows, "columns differ in length");
    }
    require(columns.empty() || rows <= (std::size_t{1} << 40) / columns.size(), "too many codes");
    return columns;
}

nb::tuple read_codes_py(const nb::list& list, std::size_t rows, int threads) {
    std::vector<nb::object> kept;
    const Columns columns = columns_of(list, rows, kept);
    const std::size_t n_columns = columns.size();
    std::vector<std::int32_t> codes(rows * n_columns);
    // rows whose codes stay in the cache while the columns are read one after another
    constexpr std::size_t tile = 4096;
    const std::size_t tiles = (rows + tile - 1) / tile;
    std::vector<Fault> faults(tiles);
    {
        nb::gil_scoped_release free;
        for_each_task(tiles, threads, [&](std::size_t t) {
            const std::size_t begin = t * tile;
            faults[t] = read_codes(columns, begin, std::min(begin + tile, rows), codes.data() + begin * n_columns);
        });
    }
    Fault first;
    for (const Fault& fault : faults) first.keep_first(fault);
    return nb::make_tuple(array_of(std::move(codes), {rows, n_columns}), fault_out(first));
}

// `base` is as long as a row of weights.
CodeWeights code_weights_of(const In2<double>& weight, const In2<double>& unseen, const double* base,
                            const In1<std::int64_t>& offsets, const In1<std::int64_t>& sizes, std::size_t classes,
                            std::size_t columns) {
    const std::size_t stride = weight.shape(1);
    require(offsets.shape(0) == columns && sizes.shape(0) == columns && unseen.shape(0) == columns,
            "one offset, size and unseen row is needed for each column");
    require(stride % lanes == 0 && classes <= stride && unseen.shape(1) == stride,
            "weights must be padded to a multiple of four classes");
    for (std::size_t j = 0; j < columns; ++j)
        require(offsets.data()[j] >= 0 && sizes.data()[j] >= 0 &&
                    static_cast<std::size_t>(offsets.data()[j]) <= weight.shape(0) &&
                    static_cast<std::size_t>(sizes.data()[j]) <=
                        weight.shape(0) - static_cast<std::size_t>(offsets.data()[j]),
                "a column's codes lie outside the weights");
    return {weight.data(), unseen.data(), base, offsets.data(), sizes.data(), classes, stride};
}

nb::tuple score_codes_py(const Any2& rows, const In2<double>& weight, const In2<double>& unseen,
                         const In1<double>& base, const In1<std::int64_t>& offsets, const In1<std::int64_t>& sizes,
                         std::size_t classes, int threads) {
    require(base.shape(0) == weight.shape(1), "weights must be padded to a multiple of four classes");
    const CodeWeights weights = code_weights_of(weight, unseen, base.data(), offsets, sizes, classes, rows.shape(1));
    return scores(rows.shape(0), classes, [&](double* out) {
        return on_dense(rows, [&](const auto& dense) { return score_codes(dense, weights, out, threads); });
    });
}

// Terms, in Python tuples of (columns, weight, unseen, offsets, sizes), and the owners of their memory.
struct Terms {
    std::vector<CodeTerm> terms;
    std::size_t stride = 0;

    Terms(const nb::list& list, std::size_t rows, std::size_t classes) {
        require(list.size() > 0 && classes > 0, "a sum has a term and a class at least");
        for (nb::handle item : list) {
            const auto parts = nb::cast<nb::tuple>(item);
            require(parts.size() == 5, "a term is columns and four arrays");
            tables_.push_back({nb::cast<In2<double>>(parts[1]), nb::cast<In2<double>>(parts[2]),
                               nb::cast<In1<std::int64_t>>(parts[3]), nb::cast<In1<std::int64_t>>(parts[4])});
            const Table& table = tables_.back();
            const Columns columns = columns_of(nb::cast<nb::list>(parts[0]), rows, kept_);
            stride = tables_.front().weight.shape(1);
            require(table.weight.shape(1) == stride, "all terms must have weights for the same classes");
            base_.assign(stride, 0.0);
            terms.push_back({columns, code_weights_of(table.weight, table.unseen, base_.data(), table.offsets,
                                                      table.sizes, classes, columns.size())});
        }
    }

   private:
    struct Table {
        In2<double> weight, unseen;
        In1<std::int64_t> offsets, sizes;
    };
    std::vector<Table> tables_;
    std::vector<nb::object> kept_;
    std::vector<double> base_;
};

nb::tuple score_columns_py(const nb::list& list, std::size_t rows, std::size_t classes, int threads) {
    const Terms all(list, rows, classes);
    return scores(rows, classes,
                  [&](double* out) { return score_columns(all.terms, rows, classes, all.stride, out, threads); });
}

nb::tuple decide_columns_py(const nb::list& list, std::size_t rows, const In1<double>& prior, int threads) {
    const std::size_t classes = prior.shape(0);
    const Terms all(list, rows, classes);
    std::vector<std::int64_t> out(rows);
    Findings findings;
    {
        nb::gil_scoped_release free;
        findings = decide_columns(all.terms, rows, classes, all.stride, prior.data(), out.data(), threads);
    }
    return nb::make_tuple(array_of(std::move(out)), fault_out(findings.fault));
}
}  // namespace

void naively::bind_columns(nb::module_& m) {
    nb::class_<KnownTexts>(m, "KnownTexts")
        .def_static("of", &known_texts_of, nb::arg("offsets"), nb::arg("data"), nb::arg("seed"));
    nb::class_<KnownNumbers>(m, "KnownNumbers").def_static("of", &known_numbers_of, nb::arg("numbers"));
    nb::class_<HeldColumn>(m, "Column")
        .def_static("of_codes", &column_of_codes, nb::arg("codes"))
        .def_static("of_texts", &column_of_texts<std::int32_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
                    nb::arg("there").none(), nb::arg("first"), nb::arg("known"))
        .def_static("of_texts", &column_of_texts<std::int64_t>, nb::arg("offsets").noconvert(), nb::arg("data"),
                    nb::arg("there").none(), nb::arg("first"), nb::arg("known"))
        .def_static("of_bins", &column_of_bins, nb::arg("values"), nb::arg("starts"))
        .def_static("of_numbers", &column_of_numbers, nb::arg("values"), nb::arg("known"));
    m.def("hash_numbers", &hash_numbers_py, nb::arg("values"), nb::arg("seed"));
    m.def("read_codes", &read_codes_py, nb::arg("columns"), nb::arg("rows"), nb::arg("threads"));
    m.def("score_codes", &score_codes_py, nb::arg("rows"), nb::arg("weight"), nb::arg("unseen"), nb::arg("base"),
          nb::arg("offsets"), nb::arg("sizes"), nb::arg("classes"), nb::arg("threads"));
    m.def("score_columns", &score_columns_py, nb::arg("terms"), nb::arg("rows"), nb::arg("classes"),
          nb::arg("threads"));
    m.def("decide_columns", &decide_columns_py, nb::arg("terms"), nb::arg("rows"), nb::arg("prior"),
          nb::arg("threads"));
}
