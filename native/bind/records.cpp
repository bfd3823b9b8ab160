// Bindings of the scan of delimited files.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "columns/record_watch.hpp"

using namespace naively;

namespace {

RecordWatch watch_of(const std::string& delimiter, const std::string& quote, std::int64_t longest,
                     std::vector<bool> watched, bool header) {
    require(delimiter.size() == 1 && quote.size() <= 1, "delimiter and quote must be one byte each");
    const int quote_or_none = quote.empty() ? -1 : static_cast<unsigned char>(quote[0]);
    return RecordWatch(delimiter[0], quote_or_none, longest, FieldShapes(delimiter[0], std::move(watched), header));
}

void feed(RecordWatch& watch, const nb::bytes& bytes) {
    nb::gil_scoped_release free;
    watch.feed(bytes.c_str(), bytes.size());
}

}  // namespace

void naively::bind_records(nb::module_& m) {
    nb::class_<RecordWatch>(m, "RecordWatch")
        .def_static("of", &watch_of, nb::arg("delimiter"), nb::arg("quote"), nb::arg("longest"), nb::arg("watched"),
                    nb::arg("header"))
        .def("feed", &feed, nb::arg("bytes"))
        .def("finish", &RecordWatch::finish, nb::arg("unclosed"))
        .def("kinds_of_line_ends", &RecordWatch::kinds_of_line_ends)
        .def("shapes", &RecordWatch::shapes);
}
