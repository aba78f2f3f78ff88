#include "filesets/specification/specification.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "filesets/content/content.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"

namespace filereel {
namespace {

std::string complaint(std::string_view text, double scale = 1) {
  try {
    file_set_from_yaml(text, "set.yaml", scale);
  } catch (const Error& e) {
    CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
    return e.what();
  }
  return {};
}

constexpr const char* kListed = R"(
name: listed
description: a few files
source: made up
seed: 18446744073709551615
groups:
  - path: top/below
    duplicates: 2.5 %
    files:
      - {path: a.txt, size: 1 KiB, mode: 0600, mtime: "2004-05-06T07:08:09.5Z"}
      - {path: sub/b.zip, size: 100, compressed: 12.3 %}
      - {path: hole, size: 1 MiB, content: zeros, duplicates: 0 %,
         holes: [{offset: 4096, length: 4 KiB}, {offset: 64 KiB, length: 64 KiB}]}
      - {path: hard, hard_link: sub/b.zip}
      - {path: soft, symlink: ../elsewhere, mtime: 1969-12-31}
      - {path: empty/, mode: 0700}
)";

TEST_CASE("a listed file has everything that is said of it") {
  const FileSet set = file_set_from_yaml(kListed, "set.yaml");
  CHECK(set.name == "listed");
  CHECK(set.source == "made up");
  CHECK(set.seed == UINT64_MAX);
  REQUIRE(set.entries.size() == 9);
  const auto& entries = set.entries;
  CHECK(entries[0].path == "top");
  CHECK(entries[1].path == "top/below");
  CHECK(entries[2].path == "top/below/a.txt");
  CHECK(entries[2].mode == 0600);
  CHECK(entries[2].mtime_ns == 1'083'827'289'500'000'000);
  CHECK(entries[2].content.compressed_permille == find_content_kind("text")->compressed_permille);
  CHECK(entries[2].content.duplicate_permille == 25);
  CHECK(entries[3].path == "top/below/sub");
  CHECK(entries[4].content.compressed_permille == 123);
  CHECK(entries[5].holes == std::vector<Hole>{{4096, 4096}, {65536, 65536}});
  CHECK(entries[5].content.compressed_permille == 0);
  CHECK(entries[6].kind == EntryKind::hard_link);
  CHECK(entries[6].target == "top/below/sub/b.zip");
  CHECK(entries[7].kind == EntryKind::symlink);
  CHECK(entries[7].target == "../elsewhere");
  CHECK(entries[7].mtime_ns == -86'400'000'000'000);
  CHECK(entries[8].kind == EntryKind::directory);
  CHECK(entries[8].mode == 0700);
}

TEST_CASE("scaling a list keeps its files and makes the sum exact") {
  for (const double scale : {0.001, 0.1, 0.37, 3.0}) {
    const FileSet set = file_set_from_yaml(kListed, "set.yaml", scale);
    CHECK(set.totals().files == 3);
    CHECK(set.totals().bytes == scale_bytes(1024 + 100 + (1 << 20), scale));
  }
}

TEST_CASE("a group of numbers has its count, total, tree and extensions") {
  const FileSet set = file_set_from_yaml(R"(
name: numbers
groups:
  - path: p
    count: 1000
    total: 50 MB
    sizes: {lognormal: {sigma: 2}, pareto: {weight: 0.5 %, k: 0.91, start: 2 MB}, min: 10, max: 9 MB}
    directories: {files_per_directory: 20, depth: 3}
    extensions:
      - {name: dll, share: 66.6 %}
      - {name: "", share: 33.3 %, content: random}
      - {name: x, share: 0.1 %, compressed: 50 %}
)",
                                         "set.yaml");
  CHECK(set.totals().files == 1000);
  CHECK(set.totals().bytes == 50'000'000);
  CHECK(set.totals().directories == 50);
  std::map<std::string, int> extensions;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::file) ++extensions[std::string(extension_of(entry.path))];
  }
  CHECK(extensions == std::map<std::string, int>{{"", 333}, {"dll", 666}, {"x", 1}});
}

TEST_CASE("files of one size keep it when their number shrinks") {
  const char* text = "{name: n, groups: [{count: 1000, size: 100}]}";
  CHECK(file_set_from_yaml(text, "s", 0.1).totals().files == 100);
  CHECK(file_set_from_yaml(text, "s", 0.1).totals().largest == 100);
  CHECK(file_set_from_yaml(text, "s", 0.001).totals().files == 16);
  CHECK(file_set_from_yaml(text, "s", 0.001).totals().bytes == 100);
  CHECK(file_set_from_yaml(text, "s", 2).totals().files == 2000);
}

TEST_CASE("the same text gives the same set, and names are not used twice") {
  const char* text =
      "{name: n, groups: [{count: 50, total: 10 kB, sizes: {lognormal: {sigma: 1}}}, {count: 50, "
      "size: 3}]}";
  const FileSet a = file_set_from_yaml(text, "s");
  const FileSet b = file_set_from_yaml(text, "s");
  REQUIRE(a.entries.size() == b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    CHECK(a.entries[i].path == b.entries[i].path);
    CHECK(a.entries[i].size == b.entries[i].size);
    CHECK(a.entries[i].content == b.entries[i].content);
  }
}

TEST_CASE("mistakes are named with line and column") {
  CHECK(complaint("name: n\ngroups:\n  - count: 5\n    size: 1\n    colour: red\n") ==
        "set.yaml:5:5: unknown key 'colour' in an item of 'groups': expected path, files, count, "
        "size, total, sizes, directories, extensions, content, compressed, duplicates");
  CHECK(complaint("name: n\ngroups:\n  - count: many\n    size: 1\n") ==
        "set.yaml:3:12: 'count' must be a whole number from 0 to 100000000, not 'many'");
  CHECK(
      complaint("name: n\ngroups:\n  - count: 2\n    size: 1\n    extensions:\n      - {name: a, "
                "share: 99 %}\n")
          .starts_with("set.yaml:6:7: 'extensions' must have shares that add up to 100 %, not 99"));
  CHECK(
      complaint("name: n\ngroups:\n  - count: 20\n    total: 10\n    sizes: {lognormal: {sigma: "
                "1}}\n")
          .starts_with("set.yaml:4:12: 20 files of at least 1 byte exceed the total of 10 bytes"));
  CHECK(complaint("name: n\ngroups:\n  - files:\n      - {path: ../x, size: 1}\n")
            .starts_with("set.yaml:4:16: the path '../x' contains '..'"));
  CHECK(complaint("name: [\n") ==
        "set.yaml:2:1: invalid YAML: a list that starts with '[' is not closed with ']'");
  CHECK(complaint("name: n\ngroups:\n  - count: 1e400\n    size: 1\n") ==
        "set.yaml:3:12: 'count' must be a whole number from 0 to 100000000, not '1e400'");
}

TEST_CASE("what is no specification is refused") {
  const auto group = [](const char* text) {
    return complaint(std::string("name: n\ngroups:\n  - {") + text + "}\n");
  };
  CHECK(group("count: 1, size: 0") == "");
  for (const char* text : {"",
                           "count: 5",
                           "size: 5",
                           "count: 100000001, size: 1",
                           "count: -1, size: 1",
                           "count: 20000000, size: 1",
                           "count: 1, size: 1 furlong",
                           "count: 1, size: [1]",
                           "count: 1, size: 1, total: 1",
                           "count: 5, total: 0, sizes: {lognormal: {sigma: 1}}",
                           "count: 5, total: 50, sizes: {}",
                           "count: 5, total: 50, sizes: {lognormal: {sigma: 11}}",
                           "count: 5, total: 50, sizes: {lognormal: {sigma: nan}}",
                           "count: 5, total: 50, sizes: {lognormal: {sigma: 1}, min: 20, max: 10}",
                           "count: 5, total: 50, sizes: {lognormal: {sigma: 1}, max: 9}",
                           "count: 1, size: 1, content: gold",
                           "count: 1, size: 1, content: text, compressed: 5 %",
                           "count: 1, size: 1, duplicates: 5",
                           "count: 1, size: 1, duplicates: 100.1 %",
                           "count: 1, size: 1, duplicates: 1.23 %",
                           "count: 1, size: 1, path: /abs",
                           "count: 1, size: 1, path: a/../b",
                           "count: 1, size: 1, count: 2",
                           "count: 1, size: 1, directories: {files_per_directory: 0}",
                           "count: 1, size: 1, directories: {depth: 1000}",
                           "count: 1, size: 1, directories: {spread: wild}",
                           "count: 1, size: 1, extensions: []",
                           "count: 1, size: 1, extensions: [{name: a/b, share: 100 %}]",
                           "count: 100000000, size: 1 TB",
                           "count: 1, files: [{path: a, size: 1}]",
                           "files: 5",
                           "files: [{path: a}]",
                           "files: [{size: 1}]",
                           "files: [{path: a, size: 1}, {path: a, size: 1}]",
                           "files: [{path: a/b, size: 1}, {path: a, size: 1}]",
                           "files: [{path: a, size: 1}, {path: a/b, size: 1}]",
                           "files: [{path: a, hard_link: b}]",
                           "files: [{path: a, symlink: ''}]",
                           "files: [{path: a, symlink: b, size: 5}]",
                           "files: [{path: a, size: 1, mode: 0888}]",
                           "files: [{path: a, size: 1, mode: 10000}]",
                           "files: [{path: a, size: 1, mtime: yesterday}]",
                           "files: [{path: a, size: 1, mtime: 2004-02-30}]",
                           "files: [{path: a, size: 5, holes: [{offset: 4, length: 2}]}]",
                           "files: [{path: a, size: 5, holes: [{offset: 4, length: 0}]}]",
                           "files: [{path: d/, size: 5}]"}) {
    CAPTURE(std::string(text));
    CHECK(group(text) != "");
  }
  for (const char* text :
       {"", "# nothing", "5", "[]", "{}", "name: n", "name: n\ngroups: []",
        "name: ''\ngroups: [{count: 1, size: 1}]", "groups: [{count: 1, size: 1}]",
        "name: n\n---\nname: m\n", "\x01\x02", "name: *x", "a: &a [*a]"}) {
    CAPTURE(std::string(text));
    CHECK(complaint(text) != "");
  }
}

TEST_CASE("foreign text never breaks a message into two lines") {
  const std::string head = "name: n\ngroups:\n  - files:\n";
  for (const std::string list :
       {"      - {path: \"a\\nb\", size: 1}\n      - {path: \"a\\nb\", size: 1}\n",
        "      - {path: \"a\\nb\", size: 1}\n      - {path: \"a\\nb/c\", size: 1}\n",
        "      - {path: a, hard_link: \"a\\nb\"}\n",
        "      - {path: a, size: 1, content: \"a\\nb\"}\n", "      - {\"a\\nb\": 1}\n"}) {
    CAPTURE(list);
    CHECK(complaint(head + list).find("\\x0a") != std::string::npos);
  }
}

TEST_CASE("aliases that multiply run into the limit instead of the memory") {
  std::string text = "name: n\ngroups:\n  - &g {count: 9000000, size: 0}\n";
  for (int i = 0; i < 3; ++i) text += "  - *g\n";
  CHECK(complaint("name: n\ngroups: &g\n  - {count: 1, size: 1}\n  - *g\n") != "");
  const SpecificationLimits limits{.max_entries = 20'000};
  CHECK_THROWS_AS(file_set_from_yaml(text, "s", 0.001, limits), Error);
  // Each level ten times the one below: 10^12 values of a few bytes.
  std::string laughs = "name: n\nz0: &z0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += "z" + std::to_string(i) + ": &z" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) laughs += (j > 0 ? ", *z" : "*z") + std::to_string(i - 1);
    laughs += "]\n";
  }
  CHECK(complaint(laughs).find("more than 4000000 values") != std::string::npos);
  std::string deep = "name: ";
  for (int i = 0; i < 100; ++i) deep += '[';
  CHECK(complaint(deep).find("nested more than") != std::string::npos);
}

TEST_CASE("scales that make no sense are an error of usage") {
  for (const double scale : {0.0, -1.0, 1e300}) {
    try {
      file_set_from_yaml("{name: n, groups: [{count: 1, size: 1}]}", "s", scale);
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::usage);
    }
  }
  CHECK(complaint("{name: n, groups: [{count: 1, size: 1000000 TB}]}", 1000) != "");
}

TEST_CASE("scaling bytes rounds to the nearest, exactly") {
  CHECK(scale_bytes(1'380'000'000, 0.003) == 4'140'000);
  CHECK(scale_bytes(3, 0.5) == 2);
  CHECK(scale_bytes(1, 0.4999) == 0);
  CHECK(scale_bytes((1ull << 53) + 1, 1.0) == (1ull << 53) + 1);
  CHECK(scale_bytes(INT64_MAX, 1.0) == INT64_MAX);
  CHECK(scale_bytes(INT64_MAX, 1e-300) == 0);
  CHECK_THROWS_AS(scale_bytes(INT64_MAX, 1.5), Error);
}

TEST_CASE("extensions tell the kind of content") {
  CHECK(content_kind_of_extension("DLL").name == "executable");
  CHECK(content_kind_of_extension("unheard-of").name == "mixed");
  CHECK(content_kind_of_extension("").name == "mixed");
  CHECK(content_kind_of_extension(" ").name == "mixed");
  CHECK(extension_of("a.b/c") == "");
  CHECK(extension_of("a/.profile") == "");
  CHECK(extension_of("a/b.tar.gz") == "gz");
  for (const ContentKind& kind : content_kinds()) {
    CHECK(find_content_kind(kind.name) == &kind);
    CHECK(kind.compressed_permille <= 1000);
    CHECK(kind.source != "");
  }
}

}  // namespace
}  // namespace filereel
