#include "cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace naively {
namespace {

// False where the sum does not fit.
bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
    using limits = std::numeric_limits<std::int64_t>;
    if ((b > 0 && a > limits::max() - b) || (b < 0 && a < limits::min() - b)) return false;
    sum = a + b;
    return true;
}

bool add(double a, double b, double& sum) {
    sum = a + b;
    if (std::fabs(sum) <= 1e-12 * (std::fabs(a) + std::fabs(b)) && (a < 0) != (b < 0)) sum = 0.0;
    return std::isfinite(sum);
}

bool negate(std::int64_t a, std::int64_t& b) {
    if (a == std::numeric_limits<std::int64_t>::min()) return false;
    b = -a;
    return true;
}

bool negate(double a, double& b) {
    b = -a;
    return true;
}

}  // namespace

template <class T>
SumFault sum_cells(const CellsView<T>& left, const CellsView<T>& right, std::size_t planes, bool subtract,
                   Cells<T>& result, std::size_t& at) {
    std::vector<std::vector<T>> value(planes);
    result.feature.reserve(left.size + right.size);
    result.klass.reserve(left.size + right.size);
    for (auto& plane : value) plane.reserve(left.size + right.size);

    std::vector<T> sum(planes);
    const auto keep = [&](std::int64_t feature, std::int32_t klass) {
        bool any = false;
        for (const T& v : sum) any = any || v != T(0);
        if (!any) return;
        result.feature.push_back(feature);
        result.klass.push_back(klass);
        for (std::size_t p = 0; p < planes; ++p) value[p].push_back(sum[p]);
    };

    std::size_t i = 0, j = 0;
    while (i < left.size || j < right.size) {
        bool from_left = j >= right.size, from_right = i >= left.size;
        if (!from_left && !from_right) {
            const auto fa = left.feature[i], fb = right.feature[j];
            const auto ca = left.klass[i], cb = right.klass[j];
            from_left = fa < fb || (fa == fb && ca <= cb);
            from_right = fb < fa || (fa == fb && cb <= ca);
        }
        for (std::size_t p = 0; p < planes; ++p) {
            const T a = from_left ? left.value[p * left.size + i] : T(0);
            T b = from_right ? right.value[p * right.size + j] : T(0);
            at = j;
            if (subtract && !negate(b, b)) return SumFault::overflow;
            if (!add(a, b, sum[p])) return SumFault::overflow;
            if (subtract && from_right && sum[p] < T(0)) return SumFault::negative;
        }
        keep(from_left ? left.feature[i] : right.feature[j], from_left ? left.klass[i] : right.klass[j]);
        i += from_left;
        j += from_right;
    }
    result.value.reserve(result.feature.size() * planes);
    for (const auto& plane : value) result.value.insert(result.value.end(), plane.begin(), plane.end());
    return SumFault::none;
}

std::vector<std::int64_t> find_cells(const std::int64_t* feature, std::size_t size, const std::int64_t* wanted,
                                     std::size_t count) {
    std::vector<std::int64_t> found;
    const std::int64_t* const end = feature + size;
    const std::int64_t* from = feature;
    for (std::size_t i = 0; i < count && from < end; ++i) {
        from = std::lower_bound(from, end, wanted[i]);
        for (; from < end && *from == wanted[i]; ++from) found.push_back(from - feature);
    }
    return found;
}

template SumFault sum_cells<std::int64_t>(const CellsView<std::int64_t>&, const CellsView<std::int64_t>&, std::size_t,
                                          bool, Cells<std::int64_t>&, std::size_t&);
template SumFault sum_cells<double>(const CellsView<double>&, const CellsView<double>&, std::size_t, bool,
                                    Cells<double>&, std::size_t&);

}  // namespace naively
