// Records of delimited values for Python.
#include <nanobind/stl/string.h>

#include <string>

#include "bind.hpp"
#include "record_watch.hpp"

using namespace naively;

namespace {

RecordWatch watch_of(const std::string& delimiter, const std::string& quote, std::int64_t longest) {
    require(delimiter.size() == 1 && quote.size() <= 1, "delimiter and quote must be one byte each");
    return RecordWatch(delimiter[0], quote.empty() ? -1 : static_cast<unsigned char>(quote[0]), longest);
}

void feed(RecordWatch& watch, const nb::bytes& bytes) {
    nb::gil_scoped_release free;
    watch.feed(bytes.c_str(), bytes.size());
}

}  // namespace

void naively::bind_records(nb::module_& m) {
    nb::class_<RecordWatch>(m, "RecordWatch")
        .def_static("of", &watch_of, nb::arg("delimiter"), nb::arg("quote"), nb::arg("longest"))
        .def("feed", &feed, nb::arg("bytes"))
        .def("finish", &RecordWatch::finish, nb::arg("unclosed"))
        .def("kinds_of_line_ends", &RecordWatch::kinds_of_line_ends);
}
