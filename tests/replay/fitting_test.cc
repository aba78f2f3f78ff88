#include "replay/jobs/fitting.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/entries.h"

namespace filereel {
namespace {

constexpr FileSystemLimits kWindows{
    .largest_file = 1000, .windows_names = true, .links = false, .holes = false};

struct UnfittedTrace {
  TraceTables tables;
  TraceTrees trees;
  PathId add(const std::string& path) { return tables.paths.add(Role::near, path); }
};

TEST_CASE("a trace without reserved names keeps its tables if all names are permitted") {
  UnfittedTrace sample;
  sample.add("tmp/a:b");
  sample.trees.initial = set_of({directory("tmp")});
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {});
  CHECK(fitted.tables == nullptr);
  CHECK(fitted.names_changed == 0);
  CHECK(fitted.initial.entries.size() == 1);
}

TEST_CASE("names are escaped under the same numbers, in the tables and in the trees") {
  UnfittedTrace sample;
  const PathId escaped = sample.add("d/a:b");
  const PathId other = sample.add("d/c");
  sample.tables.texts.add("a text");
  sample.trees.initial = set_of({directory("d"), file("d/a:b", 5)});
  sample.trees.final = set_of({directory("d"), file("d/a:b", 6)});
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {kWindows});
  REQUIRE(fitted.tables != nullptr);
  CHECK(fitted.tables->paths.relative(escaped) == "d/a%3Ab");
  CHECK(fitted.tables->paths.relative(other) == "d/c");
  CHECK(fitted.tables->paths.size() == sample.tables.paths.size());
  CHECK(fitted.tables->texts.text(1) == "a text");
  CHECK(fitted.initial.entries[1].path == "d/a%3Ab");
  CHECK(fitted.final.entries[1].path == "d/a%3Ab");
  CHECK(fitted.names_changed == 1);
  REQUIRE(fitted.escaped.size() == 1);
  CHECK(fitted.escaped[0].original == "a:b");
  CHECK(fitted.escaped[0].escaped == "a%3Ab");
}

TEST_CASE("a name that differs only in case has the same mark in every directory") {
  UnfittedTrace sample;
  const PathId lower = sample.add("old/readme");
  const PathId upper = sample.add("old/README");
  const PathId upper_elsewhere = sample.add("new/README");  // "old" renamed to "new"
  const PathId lower_elsewhere = sample.add("new/readme");
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {kWindows});
  const PathTable& paths = fitted.tables->paths;
  CHECK(paths.relative(lower) == "old/readme");
  CHECK(paths.relative(upper) == "old/README%~1");
  CHECK(paths.relative(upper_elsewhere) == "new/README%~1");
  CHECK(paths.relative(lower_elsewhere) == "new/readme");
}

TEST_CASE("a trace cannot use names reserved by the volume") {
  UnfittedTrace sample;
  const PathId found = sample.add("lost+found/x");
  const PathId below = sample.add("d/lost+found");
  sample.trees.initial = set_of({directory("lost+found")});
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {});
  const PathTable& paths = fitted.tables->paths;
  CHECK(paths.relative(found) == "%6Cost+found/x");
  CHECK(paths.relative(below) == "d/lost+found");
  CHECK(fitted.initial.entries[0].path == "%6Cost+found");
}

TEST_CASE("texts of links are escaped as names are, in the tables and in the trees") {
  constexpr FileSystemLimits kWithLinks{.windows_names = true};
  UnfittedTrace sample;
  sample.add("d/README");
  sample.add("d/readme");
  const TextId text = sample.tables.texts.add("../d/readme");
  const TextId invalid = sample.tables.texts.add("a:b/\xff");
  const TextId attribute = sample.tables.texts.add("user.mime_type");
  sample.trees.initial = set_of({directory("d"), link_to(EntryKind::symlink, "d/l", "readme")});
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {kWithLinks});
  REQUIRE(fitted.tables);
  CHECK(fitted.tables->texts.text(text) == "../d/readme%~1");
  CHECK(fitted.tables->texts.text(invalid) == "a%3Ab/%FF");
  CHECK(fitted.tables->texts.text(attribute) == "user.mime_type");
  CHECK(fitted.initial.entries[1].target == "readme%~1");
  CHECK(fitted.texts_changed == 2);
}

TEST_CASE("files that a volume has in its root keep their names, those of a trace get others") {
  UnfittedTrace sample;
  const PathId table = sample.add("$mft");
  const PathId label = sample.add("filereel");
  const PathId below = sample.add("d/$mft");
  const FittedTrace ntfs = fit_trace(sample.tables, sample.trees, {limits_of_driver("ntfs-3g")});
  CHECK(ntfs.tables->paths.relative(table) == "%24mft");
  CHECK(ntfs.tables->paths.relative(label) == "filereel");
  CHECK(ntfs.tables->paths.relative(below) == "d/$mft");
  const FittedTrace fat = fit_trace(sample.tables, sample.trees, {limits_of_driver("fusefat")});
  CHECK(fat.tables->paths.relative(table) == "$mft");
  CHECK(fat.tables->paths.relative(label) == "%66ilereel");
}

TEST_CASE("times that a file system changes are counted") {
  UnfittedTrace sample;
  const auto at = [](const char* path, std::int64_t seconds) {
    Entry entry = file(path, 1);
    entry.mtime_ns = seconds * 1'000'000'000;
    return entry;
  };
  sample.trees.initial = set_of({at("a", 0), at("b", 4'354'819'200), at("c", 315'532'800),
                                 at("d", -2'147'483'649), file("e", 1)});
  const auto outside = [&](std::string_view driver) {
    return fit_trace(sample.tables, sample.trees, {limits_of_driver(driver)}).times_outside;
  };
  CHECK(outside("vfat") == 3);
  CHECK(outside("ext4") == 1);
  CHECK(outside("btrfs") == 0);
}

TEST_CASE("links and holes that the volume cannot hold are left out and counted") {
  UnfittedTrace sample;
  sample.trees.initial =
      set_of({file("a", 10), sparse_file("s", 100, {{0, 50}}),
              link_to(EntryKind::symlink, "l", "a"), link_to(EntryKind::hard_link, "h", "a")});
  sample.trees.final = sample.trees.initial;
  const FittedTrace fitted = fit_trace(sample.tables, sample.trees, {kWindows});
  CHECK(fitted.symlinks_left_out == 1);
  CHECK(fitted.hard_links_left_out == 1);
  CHECK(fitted.holes_filled == 1);
  CHECK(fitted.initial.entries.size() == 2);
  CHECK(fitted.final.entries.size() == 4);  // the tree check knows of links
}

TEST_CASE("an initial file that is too large and a name that is too long are errors") {
  UnfittedTrace large;
  large.trees.initial = set_of({file("a", 1001)});
  CHECK_THROWS_AS(fit_trace(large.tables, large.trees, {kWindows}), Error);
  CHECK_NOTHROW(fit_trace(large.tables, large.trees, {}));
  UnfittedTrace longer;
  longer.add(std::string(100, ':'));
  CHECK_THROWS_AS(fit_trace(longer.tables, longer.trees, {kWindows}), Error);
}

TEST_CASE("a set whose times and modes FC-Test does not create is named in a warning") {
  FileSet set = set_of({directory("d"), file("d/a", 1)});
  Result plain;
  warn_of_attributes(set, plain);
  CHECK(plain.warnings.empty());
  set.entries.change(1, [](Entry& entry) { entry.mode = 04400; });
  Result modes;
  warn_of_attributes(set, modes);
  REQUIRE(modes.warnings.size() == 1);
  CHECK(modes.warnings[0].code == "attributes-not-set");
  CHECK(modes.warnings[0].text.ends_with(
      ": modes lose set-ID and sticky bits and get access for the owner (entries: 1)"));
  set.entries.change(0, [](Entry& entry) { entry.mtime_ns = 5; });
  Result both;
  warn_of_attributes(set, both);
  REQUIRE(both.warnings.size() == 1);
  CHECK(both.warnings[0].text.contains("files get the time of their creation; modes lose"));
}

}  // namespace
}  // namespace filereel
