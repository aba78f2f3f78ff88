#include "filesets/ownership/tree_walk.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::size_t kMostOpen = 60;

// A directory on the path from the root to the current one.
struct Level {
  std::string name;
  FileState state;
  Descriptor directory;            // closed while the walk is far below it
  std::vector<std::string> names;  // not yet visited
  std::size_t path_bytes = 0;      // length of its path
};

class TreeWalk {
 public:
  TreeWalk(const std::string& shown, const std::function<void(const WalkedEntry&)>& visit,
           UnreadableDirectory closed)
      : shown_(shown), visit_(visit), closed_(closed) {}

  void run(int root) {
    const std::optional<FileState> state = read_file_state(root);
    if (!state) fail(errno);
    mount_ = state->mount;
    lasting_ = keeps_identities(root);
    push("", *state, Descriptor(fcntl(root, F_DUPFD_CLOEXEC, 0)));
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.names.empty()) {
        leave();
      } else {
        const std::string name = std::move(level.names.back());
        level.names.pop_back();
        enter(name);
      }
    }
  }

 private:
  void enter(const std::string& name) {
    const Level& parent = levels_.back();
    if (levels_.size() == 1 && name == kLostAndFound) return;
    path_.resize(parent.path_bytes);
    if (!path_.empty()) path_ += '/';
    path_ += name;
    const Descriptor held = hold_identity(parent.directory.get(), name, lasting_);
    const std::optional<FileState> state = read_file_state(parent.directory.get(), name);
    if (!state && errno == ENOENT) return;  // removed in the meantime
    if (!state) fail(errno);
    if (state->mount != mount_) {
      throw_failed(fmt::format("a file system is mounted on {}; unmount it first", place()));
    }
    if (!state->is_directory()) {
      visit_({parent.directory.get(), name, path_, *state});
      return;
    }
    if (closed_ == UnreadableDirectory::grant_access && (state->mode & S_IRWXU) != S_IRWXU) {
      grant_access(parent.directory.get(), name,
                   state->mode);  // on failure, the next call reports why
    }
    Descriptor directory = open_here(parent.directory.get(), name, *state);
    if (levels_.size() >= kMostOpen) levels_[levels_.size() - kMostOpen].directory.reset();
    push(name, *state, std::move(directory));
  }

  void push(const std::string& name, const FileState& state, Descriptor directory) {
    auto names = directory ? names_in(directory.get()) : std::nullopt;
    if (!names) fail(errno);
    levels_.push_back({name, state, std::move(directory), *std::move(names), path_.size()});
  }

  // Leaves a finished directory. The parent may have to be opened again.
  void leave() {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return;
    Level& parent = levels_.back();
    path_.resize(done.path_bytes);
    if (!parent.directory) {
      parent.directory = open_here(done.directory.get(), "..", parent.state);
    }
    visit_({parent.directory.get(), done.name, path_, done.state});
  }

  // Opens a directory and checks its identity against `wanted`.
  Descriptor open_here(int from, const std::string& name, const FileState& wanted) const {
    open_how how{};
    how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
    Descriptor directory(
        static_cast<int>(syscall(SYS_openat2, from, name.c_str(), &how, sizeof how)));
    if (!directory) fail(errno);
    const std::optional<FileState> state = read_file_state(directory.get());
    if (!state || state->identity != wanted.identity || state->mount != mount_) {
      throw_failed(
          fmt::format("{} was replaced by another process; find out which, then retry", place()));
    }
    return directory;
  }

  [[noreturn]] void fail(int error) const {
    throw_failed(fmt::format("cannot read {}: {}", place(), error_text(error)));
  }
  std::string place() const { return printable(path_.empty() ? shown_ : shown_ + "/" + path_); }

  const std::string& shown_;
  const std::function<void(const WalkedEntry&)>& visit_;
  UnreadableDirectory closed_;
  std::uint64_t mount_ = 0;
  bool lasting_ = true;
  std::string path_;
  std::vector<Level> levels_;
};

}  // namespace

void walk_tree(int root, const std::string& shown,
               const std::function<void(const WalkedEntry&)>& visit, UnreadableDirectory closed) {
  TreeWalk(shown, visit, closed).run(root);
}

}  // namespace filereel
