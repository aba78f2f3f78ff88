// Random operations are done for real and told to the model with their results: what it says must
// agree with the real tree.
#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/random.h"
#include "tests/temp_dir.h"
#include "tests/traces/tale.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

// By path: "directory", "symlink to x", "file of 12". Hard links are files.
using Tree = std::map<std::string, std::string>;

Tree real_tree(const std::string& root) {
  namespace fs = boost::filesystem;
  Tree tree;
  for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
    const std::string path = at->path().string().substr(root.size() + 1);
    const fs::file_status status = at->symlink_status();
    if (status.type() == fs::symlink_file) {
      tree[path] = "symlink to " + fs::read_symlink(at->path()).string();
    } else if (status.type() == fs::directory_file) {
      tree[path] = "directory";
    } else {
      tree[path] = fmt::format("file of {}", fs::file_size(at->path()));
    }
  }
  return tree;
}

Tree tree_of(const FileSet& set) {
  check_file_set(set);
  Tree tree;
  for (const Entry& entry : set.entries) {
    switch (entry.kind) {
      case EntryKind::directory:
        tree[entry.path] = "directory";
        break;
      case EntryKind::symlink:
        tree[entry.path] = "symlink to " + entry.target;
        break;
      case EntryKind::file:
        tree[entry.path] = fmt::format("file of {}", entry.size);
        break;
      case EntryKind::hard_link:
        tree[entry.path] = tree.at(entry.target);
        break;
    }
  }
  return tree;
}

// Does what it says and tells the tale of it.
class Actor {
 public:
  Actor(const std::string& root, std::uint64_t seed) : root_(root), random_(seed) {}
  ~Actor() {
    for (const int fd : files_) {
      if (fd >= 0) close(fd);
    }
  }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  Tale tale;
  bool writes = true;  // false: changes no file's size

  // What is there before the tale begins.
  void furnish() {
    for (int i = 0; i < 25; ++i) {
      const std::string path = any_path();
      switch (random_.below(4)) {
        case 0:
          symlink("nowhere", real(path).c_str());
          break;
        case 1:
          make_file(path, random_.below(3000));
          break;
        default:
          mkdir(real(path).c_str(), 0755);
      }
    }
  }

  void step() {
    switch (random_.below(17)) {
      case 0:
      case 1:
        make_directory();
        break;
      case 2:
        next(a_);
        tale.rmdir(a_, result(rmdir(real_path_.c_str())));
        break;
      case 3:
        next(a_);
        tale.unlink(a_, result(unlink(real_path_.c_str())));
        break;
      case 4:
      case 5:
      case 6:
        open_one();
        break;
      case 7:
        close_one();
        break;
      case 8:
      case 9:
        read_one();
        break;
      case 10:
      case 11:
        write_one();
        break;
      case 12:
        size_one();
        break;
      case 13: {
        next(a_);
        next(b_);
        constexpr std::array<unsigned, 4> kFlags = {0, 0, RENAME_EXCHANGE, RENAME_NOREPLACE};
        const unsigned flags = kFlags[random_.below(4)];
        const auto code =
            result(renameat2(AT_FDCWD, real(a_).c_str(), AT_FDCWD, real(b_).c_str(), flags));
        tale.rename(a_, b_, flags, code);
        break;
      }
      case 14: {
        next(a_);
        next(b_);
        tale.link(a_, b_, result(link(real(a_).c_str(), real(b_).c_str())));
        break;
      }
      case 15: {
        const auto code = result(symlink("nowhere", next(a_)));
        tale.symlink("nowhere", a_, code);
        break;
      }
      case 16: {
        struct stat seen{};
        if (lstat(next(a_), &seen) != 0) {
          tale.simple(OperationKind::stat, a_, -errno);
        } else {
          tale.stat(a_, seen.st_mode, static_cast<std::uint64_t>(seen.st_size));
        }
        break;
      }
    }
  }

  // All that the model says must be so.
  void check_presence() {
    for (int i = 0; i < 40; ++i) {
      struct stat seen{};
      const bool there = lstat(next(a_), &seen) == 0;
      CAPTURE(a_);
      const PathId path = tale.path(a_);
      const TreeModel::Presence presence = tale.model().presence(path);
      if (presence == TreeModel::Presence::unknown) continue;
      CHECK(there == (presence == TreeModel::Presence::present));
      if (!there || !S_ISREG(seen.st_mode)) continue;
      const FileId file = tale.model().file_of(path);
      const auto size = static_cast<std::uint64_t>(seen.st_size);
      CHECK(tale.model().size(file) <= size);
      if (tale.model().size_is_exact(file)) CHECK(tale.model().size(file) == size);
    }
  }

 private:
  static constexpr FileSlot kSlots = 4;

  std::string real(const std::string& path) const { return root_ + "/" + path; }
  static std::int64_t result(std::int64_t code) { return code < 0 ? -errno : code; }

  std::string any_path() {
    std::string path;
    for (std::uint64_t depth = random_.below(3) + 1; depth > 0; --depth) {
      path += (path.empty() ? "" : "/") + std::string(1, static_cast<char>('a' + random_.below(3)));
    }
    return path;
  }

  // Whoever makes a trace resolves symbolic links: no path runs through one. And of a path that
  // runs through a file the model assumes that the file is its last directory.
  bool is_fit(const std::string& path) const {
    std::size_t slash = path.find('/');
    while (slash != path.npos) {
      const std::size_t next = path.find('/', slash + 1);
      struct stat seen{};
      if (lstat(real(path.substr(0, slash)).c_str(), &seen) == 0 &&
          (S_ISLNK(seen.st_mode) || (S_ISREG(seen.st_mode) && next != path.npos))) {
        return false;
      }
      slash = next;
    }
    return true;
  }

  const char* next(std::string& path) {
    do {
      path = any_path();
    } while (!is_fit(path));
    real_path_ = real(path);
    return real_path_.c_str();
  }

  void make_file(const std::string& path, std::uint64_t size) const {
    const int fd = ::open(real(path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return;
    CHECK(ftruncate(fd, static_cast<off_t>(size)) == 0);
    close(fd);
  }

  // EEXIST does not tell what is there: the model takes it for a directory.
  void make_directory() {
    const std::int64_t code = result(mkdir(next(a_), 0755));
    struct stat seen{};
    if (code == -EEXIST && lstat(real_path_.c_str(), &seen) == 0 && !S_ISDIR(seen.st_mode)) return;
    tale.mkdir(a_, code);
  }

  FileSlot slot() { return static_cast<FileSlot>(random_.below(kSlots)); }

  void open_one() {
    constexpr std::array<int, 7> kFlags = {O_RDONLY,
                                           O_RDWR,
                                           O_RDWR | O_CREAT,
                                           O_RDWR | O_CREAT | O_EXCL,
                                           O_WRONLY | O_TRUNC,
                                           O_RDWR | O_CREAT | O_TRUNC,
                                           O_RDONLY | open_flags::kDirectory};
    const FileSlot to = slot();
    if (files_[to] >= 0) return;
    const int flags = kFlags[random_.below(kFlags.size())] | open_flags::kNoFollow;
    files_[to] = ::open(next(a_), open_flags::to_kernel(flags) | O_CLOEXEC, 0644);
    const std::int64_t code = files_[to] < 0 ? -errno : 0;
    struct stat seen{};
    // The same with a file.
    if (code == -EEXIST && lstat(real_path_.c_str(), &seen) == 0 && !S_ISREG(seen.st_mode)) return;
    tale.open(to, a_, flags, code);
  }

  void close_one() {
    const FileSlot of = slot();
    if (files_[of] < 0) return;
    close(std::exchange(files_[of], -1));
    tale.close(of);
  }

  void read_one() {
    const FileSlot from = slot();
    const std::uint64_t offset = random_.below(3500), length = random_.below(500) + 1;
    if (files_[from] < 0) return;
    std::array<char, 500> buffer;
    const auto code =
        result(pread(files_[from], buffer.data(), length, static_cast<off_t>(offset)));
    if (code != -EBADF) tale.read(from, offset, length, code);
  }

  void write_one() {
    const FileSlot to = slot();
    const std::uint64_t offset = random_.below(3500), length = random_.below(500) + 1;
    if (files_[to] < 0 || !writes) return;
    const std::array<char, 500> buffer{};
    if (pwrite(files_[to], buffer.data(), length, static_cast<off_t>(offset)) < 0) return;
    tale.write(to, offset, length);
  }

  void size_one() {
    const FileSlot of = slot();
    const std::uint64_t offset = random_.below(3500), length = random_.below(500) + 1;
    if (files_[of] < 0 || !writes) return;
    if (random_.below(2) == 0) {
      if (ftruncate(files_[of], static_cast<off_t>(offset)) == 0) tale.truncate(of, offset);
      return;
    }
    constexpr std::array<int, 3> kModes = {0, FALLOC_FL_KEEP_SIZE,
                                           FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE};
    const int mode = kModes[random_.below(kModes.size())];
    if (fallocate(files_[of], mode, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0) {
      tale.allocate(of, mode, offset, length);
    }
  }

  std::string root_;
  Random random_;
  std::array<int, kSlots> files_ = {-1, -1, -1, -1};
  std::string a_, b_, real_path_;
};

// Whether `part`, what was inferred, can be of `whole`: files may be larger there.
void check_part(const Tree& part, const Tree& whole, bool sizes) {
  for (const auto& [path, what] : part) {
    if (path.ends_with("filereel-filler")) continue;
    CAPTURE(path);
    CAPTURE(what);
    REQUIRE(whole.contains(path));
    const std::string& real = whole.at(path);
    constexpr std::string_view kFile = "file of ";
    if (what.starts_with(kFile)) {
      // What was only opened or looked at may be anything; it counts as an empty file.
      if (what == "file of 0") continue;
      REQUIRE(real.starts_with(kFile));
      if (sizes)
        CHECK(std::stoull(what.substr(kFile.size())) <= std::stoull(real.substr(kFile.size())));
    } else if (what == "symlink to filereel-unknown") {
      CHECK(real.starts_with("symlink"));
    } else {
      CHECK(real == what);
    }
  }
}

TEST_CASE(
    "in an initially empty tree, the model knows everything after any sequence of operations") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const TempDir dir;
    Actor actor(dir.path(), seed);
    for (int i = 0; i < 200; ++i) actor.step();
    actor.check_presence();
    const TraceTrees trees = actor.tale.builder.trees();
    CHECK(tree_of(trees.final) == real_tree(dir.path()));
    // Nothing can be wanted from before; what was only looked for was missing.
    CHECK(trees.initial.entries.empty());
  }
}

TEST_CASE("everything that the model infers about the initial tree is true") {
  for (std::uint64_t seed = 1000; seed < 1150; ++seed) {
    CAPTURE(seed);
    const TempDir dir;
    Actor actor(dir.path(), seed);
    actor.furnish();
    actor.writes = seed % 2 == 0;
    const Tree before = real_tree(dir.path());
    for (int i = 0; i < 200; ++i) actor.step();
    actor.check_presence();
    const TraceTrees trees = actor.tale.builder.trees();
    // Holes that the tale leaves and then reads look like bytes that were there before.
    check_part(tree_of(trees.initial), before, !actor.writes);
    check_part(tree_of(trees.final), real_tree(dir.path()), true);
  }
}

TEST_CASE("a model that starts with the tree knows everything after any sequence of operations") {
  for (std::uint64_t seed = 2000; seed < 2100; ++seed) {
    CAPTURE(seed);
    const TempDir dir;
    Actor actor(dir.path(), seed);
    actor.furnish();
    FileSet begin;
    for (const auto& [path, what] : real_tree(dir.path())) {
      Entry entry;
      entry.path = path;
      if (what == "directory") entry.kind = EntryKind::directory;
      if (what.starts_with("symlink")) {
        entry.kind = EntryKind::symlink;
        entry.target = "nowhere";
      }
      if (what.starts_with("file")) entry.size = std::stoull(what.substr(8));
      begin.entries.push_back(entry);
    }
    actor.tale.model().begin_with(begin);
    for (int i = 0; i < 200; ++i) actor.step();
    actor.check_presence();
    const TraceTrees trees = actor.tale.builder.trees();
    CHECK(tree_of(trees.final) == real_tree(dir.path()));
    CHECK(tree_of(trees.initial) == tree_of(begin));
  }
}

}  // namespace
}  // namespace filereel
