#include "traces/fc_test.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/random.h"
#include "tests/entries.h"
#include "tests/traces/streams.h"

namespace filereel {
namespace {

using Lines = std::vector<std::string>;

std::string describe(const Operation& op, const Trace& trace) {
  const PathTable& paths = *trace.paths;
  const std::string_view name = operation_info(op.kind).name;
  const std::string range = fmt::format("{}+{}", op.offset, op.length);
  const std::string_view counted = op.counts_file ? " counted" : "";
  switch (op.kind) {
    case OperationKind::open:
      return fmt::format("open {} {} {}", op.file, place(paths, op.path),
                         op.flags == O_RDONLY ? "to read"
                         : op.flags == (O_WRONLY | O_CREAT | O_EXCL)
                             ? fmt::format("new {:o}", op.mode)
                             : "oddly");
    case OperationKind::close:
      return fmt::format("close {}{}", op.file, counted);
    case OperationKind::read:
      return fmt::format("read {} {}", op.file, range);
    case OperationKind::write:
      return fmt::format(
          "write {} {} {}", op.file, range,
          op.data == DataSource::last_read ? "as read" : fmt::format("of #{}", op.entry));
    case OperationKind::truncate:
      return fmt::format("truncate {} to {}", op.file, op.offset);
    case OperationKind::copy_range:
      return fmt::format("{} {}->{} {}", copy_method_name(op.method), op.source, op.file, range);
    case OperationKind::make_directory:
      return fmt::format("mkdir {} {:o}", place(paths, op.path), op.mode);
    case OperationKind::symlink:
      return fmt::format("symlink {} to {}", place(paths, op.path), trace.texts->text(op.text));
    case OperationKind::link:
      return fmt::format("link {} from {}", place(paths, op.path), place(paths, op.old_path));
    case OperationKind::barrier:
      return "barrier";
    default:
      return fmt::format("{} {}{}", name, place(paths, op.path), counted);
  }
}

Lines lines(const FcTest& test, FcStep step, std::size_t thread = 0) {
  Lines out;
  const Trace trace = test.trace(step);
  for (const Operation& op : drain(*trace.threads.at(thread))) {
    out.push_back(describe(op, trace));
  }
  return out;
}

// The operations on the content of a set of one file.
Lines content_lines(const FcTest& test, FcStep step) {
  Lines out;
  const Trace trace = test.trace(step);
  for (const Operation& op : drain(*trace.threads[0])) {
    if (operation_info(op.kind).moves_data || op.kind == OperationKind::truncate) {
      out.push_back(describe(op, trace));
    }
  }
  return out;
}

FileSet small_set() {
  FileSet set = set_of({directory("d", 0500), directory("d/e"), file("d/a", 10), file("d/e/b", 25),
                        file("empty", 0), link_to(EntryKind::symlink, "d/s", "../nowhere"),
                        link_to(EntryKind::hard_link, "d/e/h", "d/a")});
  set.entries.change(2, [](Entry& entry) { entry.mode = 04711; });
  check_file_set(set);
  return set;
}

TEST_CASE("create creates directories, files with content, symlinks, then hard links") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::create) ==
        Lines{"mkdir near/original 755", "mkdir near/original/d 700", "mkdir near/original/d/e 755",
              "open 1 near/original/d/a new 711", "write 1 0+10 of #2", "close 1 counted",
              "open 1 near/original/d/e/b new 644", "write 1 0+10 of #3", "write 1 10+10 of #3",
              "write 1 20+5 of #3", "close 1 counted", "open 1 near/original/empty new 644",
              "close 1 counted", "symlink near/original/d/s to ../nowhere",
              "link near/original/d/e/h from near/original/d/a"});
}

TEST_CASE("read reads every file once, a hard link not again") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::read) ==
        Lines{"open 0 near/original/d/a to read", "read 0 0+10", "close 0 counted",
              "open 0 near/original/d/e/b to read", "read 0 0+10", "read 0 10+10", "read 0 20+5",
              "close 0 counted", "open 0 near/original/empty to read", "close 0 counted"});
}

TEST_CASE("copies read from the original and write to the copy of their volume") {
  const FileSet set = set_of({file("a", 25), link_to(EntryKind::hard_link, "h", "a")});
  const FcTest test(set, options(20));
  for (const std::string volume : {"near", "far"}) {
    CAPTURE(volume);
    CHECK(lines(test, volume == "near" ? FcStep::copy_near : FcStep::copy_far) ==
          Lines{fmt::format("mkdir {}/copy 755", volume), "open 0 near/original/a to read",
                fmt::format("open 1 {}/copy/a new 644", volume), "read 0 0+20",
                "write 1 0+20 as read", "read 0 20+5", "write 1 20+5 as read", "close 0",
                "close 1 counted", fmt::format("link {0}/copy/h from {0}/copy/a", volume)});
  }
}

TEST_CASE("delete removes the names, then the directories from the deepest up") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::remove) ==
        Lines{"unlink near/original/d/a counted", "unlink near/original/d/e/b counted",
              "unlink near/original/empty counted", "unlink near/original/d/s",
              "unlink near/original/d/e/h", "rmdir near/original/d/e", "rmdir near/original/d",
              "rmdir near/original"});
}

TEST_CASE("a block larger than the file is limited to the file") {
  const FileSet set = set_of({file("a", 25)});
  const FcTest test(set, options(1 << 20));
  CHECK(content_lines(test, FcStep::create) == Lines{"write 1 0+25 of #0"});
  CHECK(content_lines(test, FcStep::read) == Lines{"read 0 0+25"});
  CHECK(test.trace(FcStep::read).largest_io == 25);
}

TEST_CASE("a file of whole blocks has no empty piece at its end") {
  const FileSet set = set_of({file("a", 20)});
  const FcTest test(set, options(10));
  CHECK(content_lines(test, FcStep::create) == Lines{"write 1 0+10 of #0", "write 1 10+10 of #0"});
  CHECK(content_lines(test, FcStep::read) == Lines{"read 0 0+10", "read 0 10+10"});
}

TEST_CASE("holes are not written, and a hole at the end is created by truncation") {
  const auto written = [](std::vector<Hole> holes) {
    const FileSet set = set_of({sparse_file("a", 100, std::move(holes))});
    check_file_set(set);
    return content_lines(FcTest(set, options(40)), FcStep::create);
  };
  CHECK(written({{0, 30}}) == Lines{"write 1 30+40 of #0", "write 1 70+30 of #0"});
  CHECK(written({{20, 50}}) == Lines{"write 1 0+20 of #0", "write 1 70+30 of #0"});
  CHECK(written({{60, 40}}) ==
        Lines{"write 1 0+40 of #0", "write 1 40+20 of #0", "truncate 1 to 100"});
  CHECK(written({{0, 100}}) == Lines{"truncate 1 to 100"});
  CHECK(written({{10, 10}, {20, 10}}) ==
        Lines{"write 1 0+10 of #0", "write 1 30+40 of #0", "write 1 70+30 of #0"});
  CHECK(written({{0, 40}, {80, 20}}) == Lines{"write 1 40+40 of #0", "truncate 1 to 100"});
}

TEST_CASE("a reader does not know of holes") {
  const FileSet set = set_of({sparse_file("a", 100, {{0, 30}, {60, 40}})});
  CHECK(content_lines(FcTest(set, options(50)), FcStep::read) ==
        Lines{"read 0 0+50", "read 0 50+50"});
}

TEST_CASE("holes are written as zeros on file systems without sparse files") {
  const FileSet set = set_of({sparse_file("a", 100, {{0, 30}, {60, 40}})});
  FcTestOptions filled = options(50);
  filled.fill_holes = true;
  CHECK(content_lines(FcTest(set, filled), FcStep::create) ==
        Lines{"write 1 0+50 of #0", "write 1 50+50 of #0"});
  CHECK(content_lines(FcTest(set, filled), FcStep::copy_far) ==
        Lines{"read 0 0+50", "write 1 0+50 as read", "read 0 50+50", "write 1 50+50 as read"});
}

TEST_CASE("copies omit the holes of the original") {
  const FileSet set = set_of({sparse_file("a", 100, {{20, 50}, {90, 10}})});
  CHECK(content_lines(FcTest(set, options(40)), FcStep::copy_near) ==
        Lines{"read 0 0+20", "write 1 0+20 as read", "read 0 70+20", "write 1 70+20 as read",
              "truncate 1 to 100"});
}

TEST_CASE("the kernel copies in large pieces for any block size") {
  const std::uint64_t mebi = 1 << 20;
  const FileSet set = set_of({sparse_file("a", 40 * mebi, {{36 * mebi, 4 * mebi}})});
  for (const CopyMethod method : {CopyMethod::copy_file_range, CopyMethod::sendfile}) {
    const std::string name(copy_method_name(method));
    const Lines got = content_lines(FcTest(set, options(4096, method)), FcStep::copy_near);
    CHECK(got == Lines{name + " 0->1 0+16777216", name + " 0->1 16777216+16777216",
                       name + " 0->1 33554432+4194304", "truncate 1 to 41943040"});
  }
}

TEST_CASE("a reflink clones the whole file at once, and a file of holes needs none") {
  const FcTestOptions reflink = options(4096, CopyMethod::reflink);
  const FileSet set = set_of({sparse_file("a", 100'000'000, {{0, 4096}})});
  CHECK(content_lines(FcTest(set, reflink), FcStep::copy_near) ==
        Lines{"reflink 0->1 0+100000000"});
  const FileSet holes = set_of({sparse_file("a", 8192, {{0, 8192}})});
  CHECK(content_lines(FcTest(holes, reflink), FcStep::copy_near) == Lines{"truncate 1 to 8192"});
  const FileSet empty = set_of({file("a", 0)});
  CHECK(content_lines(FcTest(empty, reflink), FcStep::copy_near).empty());
}

TEST_CASE("data and holes together cover every byte of a file exactly once") {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t size = random.below(2000);
    std::vector<Hole> holes;
    for (std::uint64_t at = random.below(50); at < size;) {
      const std::uint64_t length = std::min(1 + random.below(200), size - at);
      holes.push_back({at, length});
      at += length + random.below(200);
    }
    const FileSet set = set_of({sparse_file("a", size, holes)});
    check_file_set(set);
    const FcTest test(set, options(1 + random.below(300)));
    std::vector<int> covered(size);
    const auto cover = [&](std::uint64_t offset, std::uint64_t length) {
      for (std::uint64_t i = offset; i < offset + length; ++i) ++covered.at(i);
    };
    for (const Hole& hole : holes) cover(hole.offset, hole.length);
    const Trace trace = test.trace(FcStep::create);
    for (const Operation& op : drain(*trace.threads[0])) {
      if (op.kind != OperationKind::write) continue;
      CHECK(op.length > 0);
      CHECK(op.expected == static_cast<std::int64_t>(op.length));
      cover(op.offset, op.length);
    }
    CHECK(std::ranges::all_of(covered, [](int times) { return times == 1; }));
  }
}

TEST_CASE("a step can be traced again and again") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::create) == lines(test, FcStep::create));
}

TEST_CASE("bytes and files are those of the set without hard links") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(test.bytes() == 35);
  CHECK(test.files() == 3);
}

TEST_CASE("an empty set is one directory") {
  const FileSet set = set_of({});
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::create) == Lines{"mkdir near/original 755"});
  CHECK(lines(test, FcStep::read).empty());
  CHECK(lines(test, FcStep::copy_far) == Lines{"mkdir far/copy 755"});
  CHECK(lines(test, FcStep::remove) == Lines{"rmdir near/original"});
}

TEST_CASE("steps and copy methods go by their names") {
  for (const FcStep step : kSteps) CHECK(parse_fc_step(fc_step_name(step)) == step);
  for (const CopyMethod method : kMethods) {
    CHECK(parse_copy_method(copy_method_name(method)) == method);
  }
  CHECK(parse_fc_step("delete") == FcStep::remove);
  const auto refusal = [](auto parse, const char* word) -> std::string {
    try {
      parse(word);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  CHECK(refusal(parse_fc_step, "remove") ==
        "unknown operation 'remove': use create, read, copy-near, copy-far, delete");
  CHECK(refusal(parse_copy_method, "").find("reflink") != std::string::npos);
}

TEST_CASE("kinds of operations have unique names, and kinds not executed are not calls") {
  const std::set<std::string_view> no_calls = {"barrier", "fork",  "join", "exit", "await",
                                               "pace",    "mknod", "wait", "wake"};
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const OperationInfo& info = operation_info(kind);
    CHECK(names.insert(info.name).second);
    CHECK(info.is_call == !no_calls.contains(info.name));
    const bool moves = kind == OperationKind::read || kind == OperationKind::write ||
                       kind == OperationKind::copy_range;
    CHECK(info.moves_data == moves);
  }
}

}  // namespace
}  // namespace filereel
