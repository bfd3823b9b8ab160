#include "score/decide.hpp"

namespace naively {

void decide(const double* score, std::size_t stride, const double* prior, std::size_t rows, std::size_t classes,
            std::int64_t* out) {
    for (std::size_t i = 0; i < rows; ++i) {
        const double* row = score + i * stride;
        std::size_t best = 0;
        double most = row[0] + prior[0];
        for (std::size_t c = 1; c < classes; ++c) {
            const double value = row[c] + prior[c];
            if (value > most) {
                most = value;
                best = c;
            }
        }
        out[i] = static_cast<std::int64_t>(best);
    }
}

}  // namespace naively
