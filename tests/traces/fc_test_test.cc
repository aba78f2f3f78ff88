#include "traces/fc_test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/error.h"
#include "filesets/random.h"
#include "tests/entries.h"

namespace filereel {
namespace {

using Lines = std::vector<std::string>;

constexpr CopyMethod kMethods[] = {CopyMethod::readwrite, CopyMethod::copy_file_range,
                                   CopyMethod::reflink, CopyMethod::sendfile};
constexpr FcStep kSteps[] = {FcStep::create, FcStep::read, FcStep::copy_near, FcStep::copy_far,
                             FcStep::remove};

std::vector<Operation> drain(OperationSource& source, std::size_t batch = 5) {
  std::vector<Operation> all, out(batch);
  while (const std::size_t filled = source.next(out)) {
    all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(filled));
  }
  return all;
}

std::vector<std::vector<Operation>> drain(const Trace& trace) {
  std::vector<std::vector<Operation>> threads;
  for (const auto& source : trace.threads) threads.push_back(drain(*source));
  return threads;
}

std::string place(const PathTable& paths, PathId id) {
  return fmt::format("{}/{}", role_name(paths.node(id).role), paths.relative(id));
}

std::string describe(const Operation& op, const PathTable& paths) {
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
      return fmt::format("symlink {} of #{}", place(paths, op.path), op.entry);
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
    out.push_back(describe(op, test.paths()));
  }
  return out;
}

// The operations on the content of a set of one file.
Lines content_lines(const FcTest& test, FcStep step) {
  Lines out;
  const Trace trace = test.trace(step);
  for (const Operation& op : drain(*trace.threads[0])) {
    if (operation_info(op.kind).moves_data || op.kind == OperationKind::truncate) {
      out.push_back(describe(op, test.paths()));
    }
  }
  return out;
}

FcTestOptions options(std::uint64_t block_size, CopyMethod method = CopyMethod::readwrite,
                      std::uint32_t threads = 1) {
  return {.block_size = block_size, .copy_method = method, .threads = threads};
}

FileSet small_set() {
  FileSet set = set_of({directory("d", 0500), directory("d/e"), file("d/a", 10), file("d/e/b", 25),
                        file("empty", 0), link_to(EntryKind::symlink, "d/s", "../nowhere"),
                        link_to(EntryKind::hard_link, "d/e/h", "d/a")});
  set.entries[2].mode = 04711;
  check_file_set(set);
  return set;
}

TEST_CASE("create makes directories, files with their content, symlinks, and then hard links") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::create) ==
        Lines{"mkdir near/original 755", "mkdir near/original/d 700", "mkdir near/original/d/e 755",
              "open 1 near/original/d/a new 711", "write 1 0+10 of #2", "close 1 counted",
              "open 1 near/original/d/e/b new 644", "write 1 0+10 of #3", "write 1 10+10 of #3",
              "write 1 20+5 of #3", "close 1 counted", "open 1 near/original/empty new 644",
              "close 1 counted", "symlink near/original/d/s of #5",
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

TEST_CASE("a block that is larger than the file is cut to the file") {
  const FileSet set = set_of({file("a", 25)});
  const FcTest test(set, options(1 << 20));
  CHECK(content_lines(test, FcStep::create) == Lines{"write 1 0+25 of #0"});
  CHECK(content_lines(test, FcStep::read) == Lines{"read 0 0+25"});
  CHECK(test.trace(FcStep::read).largest_io == 25);
}

TEST_CASE("a file of whole blocks has no piece of nothing at its end") {
  const FileSet set = set_of({file("a", 20)});
  const FcTest test(set, options(10));
  CHECK(content_lines(test, FcStep::create) == Lines{"write 1 0+10 of #0", "write 1 10+10 of #0"});
  CHECK(content_lines(test, FcStep::read) == Lines{"read 0 0+10", "read 0 10+10"});
}

TEST_CASE("holes are not written, and one at the end is made by truncating") {
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

TEST_CASE("holes are written out as zeros where the file system has none") {
  const FileSet set = set_of({sparse_file("a", 100, {{0, 30}, {60, 40}})});
  FcTestOptions filled = options(50);
  filled.fill_holes = true;
  CHECK(content_lines(FcTest(set, filled), FcStep::create) ==
        Lines{"write 1 0+50 of #0", "write 1 50+50 of #0"});
  CHECK(content_lines(FcTest(set, filled), FcStep::copy_far) ==
        Lines{"read 0 0+50", "write 1 0+50 as read", "read 0 50+50", "write 1 50+50 as read"});
}

TEST_CASE("copies leave the holes of the original out too") {
  const FileSet set = set_of({sparse_file("a", 100, {{20, 50}, {90, 10}})});
  CHECK(content_lines(FcTest(set, options(40)), FcStep::copy_near) ==
        Lines{"read 0 0+20", "write 1 0+20 as read", "read 0 70+20", "write 1 70+20 as read",
              "truncate 1 to 100"});
}

TEST_CASE("the kernel copies in large pieces whatever the block size") {
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

// A file system that only knows names and sizes, and refuses what a real one would refuse.
class Model {
 public:
  // Between two barriers the threads run in any order; `backwards` is the other extreme.
  void run(const std::vector<std::vector<Operation>>& threads, const PathTable& paths,
           bool backwards) {
    std::vector<std::size_t> at(threads.size());
    std::vector<std::map<FileSlot, std::string>> open(threads.size());
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < threads.size(); ++i) {
        const std::size_t t = backwards ? threads.size() - 1 - i : i;
        for (; at[t] < threads[t].size(); ++at[t]) {
          const Operation& op = threads[t][at[t]];
          if (op.kind == OperationKind::barrier) break;
          apply(op, paths, open[t]);
        }
      }
      for (std::size_t t = 0; t < threads.size(); ++t) {
        if (at[t] == threads[t].size()) continue;
        more = true;
        ++at[t];
      }
    }
    for (const auto& files : open) CHECK(files.empty());
  }

  // What lies below `root`: "" for it, paths relative to it, with their sizes.
  std::map<std::string, std::int64_t> below(const std::string& root) const {
    std::map<std::string, std::int64_t> out;
    for (const auto& [path, size] : nodes_) {
      if (path == root) out[""] = size;
      if (path.starts_with(root + "/")) out[path.substr(root.size() + 1)] = size;
    }
    return out;
  }

  std::uint64_t files_counted = 0;

 private:
  static constexpr std::int64_t kDirectory = -1, kSymlink = -2;

  void make(const std::string& path, std::int64_t size) {
    const std::string parent = path.substr(0, path.rfind('/'));
    CAPTURE(path);
    CHECK(nodes_.contains(parent));
    CHECK(nodes_[parent] == kDirectory);
    CHECK(nodes_.emplace(path, size).second);
  }

  void apply(const Operation& op, const PathTable& paths, std::map<FileSlot, std::string>& open) {
    const std::string path = place(paths, op.path);
    CAPTURE(path);
    CHECK(op.file < 2);
    if (op.counts_file) ++files_counted;
    switch (op.kind) {
      case OperationKind::make_directory:
        make(path, kDirectory);
        break;
      case OperationKind::open:
        if ((op.flags & O_CREAT) != 0) make(path, 0);
        CHECK(nodes_.at(path) >= 0);
        CHECK(open.emplace(op.file, path).second);
        break;
      case OperationKind::close:
        CHECK(open.erase(op.file) == 1);
        break;
      case OperationKind::read:
        CHECK(static_cast<std::int64_t>(op.offset + op.length) <= nodes_.at(open.at(op.file)));
        break;
      case OperationKind::copy_range:
        CHECK(static_cast<std::int64_t>(op.offset + op.length) <= nodes_.at(open.at(op.source)));
        [[fallthrough]];
      case OperationKind::write: {
        std::int64_t& size = nodes_.at(open.at(op.file));
        size = std::max(size, static_cast<std::int64_t>(op.offset + op.length));
        break;
      }
      case OperationKind::truncate:
        nodes_.at(open.at(op.file)) = static_cast<std::int64_t>(op.offset);
        break;
      case OperationKind::symlink:
        make(path, kSymlink);
        break;
      case OperationKind::link:
        make(path, nodes_.at(place(paths, op.old_path)));
        break;
      case OperationKind::unlink:
        CHECK(nodes_.at(path) != kDirectory);
        nodes_.erase(path);
        break;
      case OperationKind::remove_directory:
        CHECK(nodes_.at(path) == kDirectory);
        CHECK(below(path).size() == 1);
        nodes_.erase(path);
        break;
      case OperationKind::barrier:
        break;
    }
  }

  std::map<std::string, std::int64_t> nodes_ = {{"near", kDirectory}, {"far", kDirectory}};
};

FileSet varied_set() {
  FileSet set = set_of({directory("d"), file("d/first", 5), directory("d/e"), directory("d/e/f"),
                        file("d/e/f/big", 3'000'000), file("d/e/empty", 0),
                        sparse_file("d/lead", 500'000, {{0, 200'000}}),
                        sparse_file("mid", 500'000, {{100'000, 200'000}}),
                        sparse_file("tail", 500'000, {{100'000, 400'000}}),
                        sparse_file("nothing", 70'000, {{0, 70'000}}),
                        link_to(EntryKind::symlink, "s", "d/first"),
                        link_to(EntryKind::hard_link, "h1", "d/e/f/big")});
  for (int i = 0; i < 10; ++i) {
    set.entries.push_back(file(fmt::format("d/e/{}", i), static_cast<std::uint64_t>(i) * 4096));
  }
  set.entries.push_back(directory("late"));
  set.entries.push_back(link_to(EntryKind::hard_link, "late/h2", "d/e/9"));
  set.entries.push_back(link_to(EntryKind::symlink, "late/dangling", "x"));
  check_file_set(set);
  return set;
}

TEST_CASE("the steps work on one another, with every method, however threads are interleaved") {
  const FileSet set = varied_set();
  for (const CopyMethod method : kMethods) {
    for (const std::uint32_t threads : {1U, 3U, 50U}) {
      for (const bool backwards : {false, true}) {
        for (const bool fill : {false, true}) {
          CAPTURE(copy_method_name(method));
          CAPTURE(threads);
          CAPTURE(backwards);
          FcTestOptions chosen = options(64 << 10, method, threads);
          chosen.fill_holes = fill;
          const FcTest test(set, chosen);
          Model model;
          for (const FcStep step : kSteps) {
            const Trace trace = test.trace(step);
            CHECK(trace.threads.size() == threads);
            model.files_counted = 0;
            model.run(drain(trace), test.paths(), backwards);
            CHECK(model.files_counted == test.files());
            if (step == FcStep::create) CHECK(model.below("near/original").at("mid") == 500'000);
          }
          const auto copy = model.below("near/copy");
          CHECK(copy.size() == set.entries.size() + 1);
          for (const Entry& entry : set.entries) {
            if (entry.kind == EntryKind::file) {
              CHECK(copy.at(entry.path) == static_cast<std::int64_t>(entry.size));
            }
          }
          CHECK(copy.at("h1") == 3'000'000);
          CHECK(model.below("far/copy") == copy);
          CHECK(model.below("near/original").empty());
        }
      }
    }
  }
}

TEST_CASE("threads meet at equally many barriers, and one thread at none") {
  const FileSet set = varied_set();
  for (const std::uint32_t threads : {1U, 3U}) {
    const FcTest test(set, options(4096, CopyMethod::readwrite, threads));
    for (const FcStep step : kSteps) {
      CAPTURE(fc_step_name(step));
      std::set<std::ptrdiff_t> counts;
      for (const auto& operations : drain(test.trace(step))) {
        counts.insert(std::ranges::count(operations, OperationKind::barrier, &Operation::kind));
      }
      CHECK(counts.size() == 1);
      const bool meets = threads > 1 && step != FcStep::read;
      CHECK((*counts.begin() > 0) == meets);
    }
  }
}

TEST_CASE("the first thread makes every directory before the threads first meet") {
  const FileSet set = varied_set();
  const FcTest test(set, options(4096, CopyMethod::readwrite, 3));
  const auto threads = drain(test.trace(FcStep::create));
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const auto barrier = std::ranges::find(threads[t], OperationKind::barrier, &Operation::kind);
    const auto made = [](auto begin, auto end) {
      return std::count_if(
          begin, end, [](const Operation& op) { return op.kind == OperationKind::make_directory; });
    };
    CHECK(made(threads[t].begin(), barrier) == (t == 0 ? 5 : 0));
    CHECK(made(barrier, threads[t].end()) == 0);
    CHECK(barrier - threads[t].begin() == (t == 0 ? 5 : 0));
  }
}

TEST_CASE("every thread of several has files to work on") {
  const FileSet set = varied_set();
  const FcTest test(set, options(4096, CopyMethod::readwrite, 3));
  for (const auto& operations : drain(test.trace(FcStep::read))) {
    CHECK(std::ranges::count(operations, OperationKind::open, &Operation::kind) >= 3);
  }
}

TEST_CASE("no operation asks for more than the trace has announced") {
  const FileSet set = varied_set();
  for (const CopyMethod method : kMethods) {
    const FcTest test(set, options(10'000, method));
    for (const FcStep step : kSteps) {
      const Trace trace = test.trace(step);
      CHECK(trace.paths == &test.paths());
      CHECK(trace.files == &set);
      for (const Operation& op : drain(*trace.threads[0])) {
        CHECK(op.file < trace.slots);
        CHECK(op.source < trace.slots);
        if (op.kind == OperationKind::read || op.kind == OperationKind::write) {
          CHECK(op.length <= trace.largest_io);
        }
      }
    }
  }
}

TEST_CASE("a step can be traced again and again") {
  const FileSet set = small_set();
  const FcTest test(set, options(10));
  CHECK(lines(test, FcStep::create) == lines(test, FcStep::create));
}

TEST_CASE("bytes and files are those of the set, a hard link not counted") {
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
        "there is no operation 'remove': use create, read, copy-near, copy-far, delete");
  CHECK(refusal(parse_copy_method, "").find("reflink") != std::string::npos);
}

TEST_CASE("kinds of operations have names of their own, and only barriers are no calls") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const OperationInfo& info = operation_info(kind);
    CHECK(names.insert(info.name).second);
    CHECK(info.is_call == (kind != OperationKind::barrier));
    const bool moves = kind == OperationKind::read || kind == OperationKind::write ||
                       kind == OperationKind::copy_range;
    CHECK(info.moves_data == moves);
  }
}

}  // namespace
}  // namespace filereel
