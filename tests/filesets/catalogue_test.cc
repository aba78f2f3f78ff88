#include "filesets/catalogue/catalogue.h"

#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>

#include "filesets/formats/fileset_file.h"
#include "filesets/system/error.h"

namespace filereel {
namespace {

struct Totals {
  const char* name;
  std::uint64_t files;
  std::uint64_t bytes;
};

constexpr Totals kTotals[] = {{"install", 414, 575'000'000},
                              {"iso", 3, 1'600'000'000},
                              {"mp3", 271, 990'000'000},
                              {"programs", 8504, 1'380'000'000},
                              {"windows", 9006, 1'060'000'000},
                              {"small-files", 50'000, 51'200'000},
                              {"naspt-photos", 169, 1'200'000'000},
                              {"naspt-directory", 2833, 247'000'000}};

TEST_CASE("every set of the catalogue has exactly the files and bytes of its source") {
  for (const Totals& expected : kTotals) {
    CAPTURE(expected.name);
    const FileSet set = catalogue_file_set(expected.name);
    CHECK(set.name == expected.name);
    CHECK(set.description != "");
    // Its figures are marked.
    CHECK((set.source.starts_with("Printed:") || set.source.starts_with("Remembered:") ||
           set.source.starts_with("Assumed:")));
    CHECK(set.totals().files == expected.files);
    CHECK(set.totals().bytes == expected.bytes);
    CHECK(set.totals().largest < (4ull << 30));
  }
  CHECK(list_catalogue_file_sets().size() == std::size(kTotals));
}

TEST_CASE("scaled sets keep their totals exact and at least sixteen files") {
  for (const Totals& expected : kTotals) {
    for (const double scale : {0.01, 0.003, 0.5, 2.0}) {
      CAPTURE(expected.name);
      CAPTURE(scale);
      const FileSetTotals totals = catalogue_file_set(expected.name, scale).totals();
      CHECK(totals.bytes ==
            static_cast<std::uint64_t>(std::llround(static_cast<double>(expected.bytes) * scale)));
      const auto count =
          static_cast<std::uint64_t>(std::llround(static_cast<double>(expected.files) * scale));
      if (expected.files == 3) {
        CHECK(totals.files == 3);
      } else {
        CHECK(totals.files == std::max<std::uint64_t>(16, count));
      }
    }
  }
}

TEST_CASE("in programs and windows no file has more than 15 % of the bytes") {
  for (const char* name : {"programs", "windows"}) {
    const FileSetTotals totals = catalogue_file_set(name).totals();
    CHECK(totals.largest * 100 <= totals.bytes * 15);
  }
}

TEST_CASE("no directory of the catalogue has more than a hundred files") {
  for (const Totals& expected : kTotals) {
    std::map<std::string, int> files;
    for (const Entry& entry : catalogue_file_set(expected.name).entries) {
      if (entry.kind == EntryKind::file) ++files[entry.path.substr(0, entry.path.rfind('/'))];
    }
    for (const auto& [directory, count] : files) CHECK(count <= 100);
  }
}

TEST_CASE("an unknown set is an error of usage that names the sets there are") {
  CHECK_THROWS_WITH(catalogue_file_set("games"),
                    "unknown file set 'games'; the catalogue has install, iso, mp3, "
                    "naspt-directory, naspt-photos, programs, small-files, windows");
  try {
    load_file_set("no/such/file.yaml");
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::usage);
  }
}

TEST_CASE("a set is loaded by name or by the kind of its file") {
  namespace fs = boost::filesystem;
  const fs::path folder = fs::temp_directory_path() / fs::unique_path("filereel-test-%%%%%%%%");
  fs::create_directories(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  CHECK(load_file_set("iso", 0.5).totals().bytes == 800'000'000);

  std::ofstream(path("a.YML")) << "{name: a, groups: [{count: 2, size: 10}]}";
  CHECK(load_file_set(path("a.YML")).totals().bytes == 20);
  std::ofstream(path("a.ptn")) << "20 x 1 KiB\n";
  CHECK(load_file_set(path("a.ptn")).totals().bytes == 20'480);
  std::ofstream(path("a.fls")) << "x\\y.txt\t100\n";
  CHECK(load_file_set(path("a.fls"), 0.1).totals().bytes == 10);
  write_fileset_file(catalogue_file_set("mp3", 0.1), path("a.fileset"));
  CHECK(load_file_set(path("a.fileset")).totals().bytes == 99'000'000);
  CHECK(load_file_set(path("a.fileset"), 0.5).totals().bytes == 49'500'000);
  fs::rename(path("a.fileset"), path("a.other"));
  CHECK(load_file_set(path("a.other")).totals().bytes == 99'000'000);
  std::ofstream(path("a.txt")) << "text";
  CHECK_THROWS_AS(load_file_set(path("a.txt")), Error);
  CHECK_THROWS_AS(load_file_set(folder.string()), Error);
  CHECK_THROWS_AS(load_file_set("iso", 0), Error);
  CHECK_THROWS_AS(load_file_set("iso", -1), Error);
  CHECK_THROWS_AS(load_file_set("iso", std::nan("")), Error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace filereel
