// One client of dbench 4: its system calls for each operation of a load file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "traces/import/simulated_tree.h"
#include "traces/model/trace_builder.h"

namespace filereel {

class DbenchClient {
 public:
  // The tree is empty before the first operation. `builder` outlives the client.
  explicit DbenchClient(TraceBuilder& builder);

  // Following operations start no earlier than this.
  void advance_to(std::uint64_t start_ns);
  void sleep(std::uint64_t ns) { now_ns_ = std::min(now_ns_ + ns, kLatestNs); }

  bool is_open(std::int64_t handle) const { return open_.contains(handle); }

  // One function per operation; `handle` is open, except for create. `succeeded` is the status in
  // the load file, `returned` the bytes. Names are complete.
  void create(std::string_view name, std::uint64_t options, std::uint64_t disposition,
              std::int64_t handle, bool succeeded);
  void close(std::int64_t handle);
  void read(std::int64_t handle, std::uint64_t offset, std::uint64_t length,
            std::uint64_t returned);
  void write(std::int64_t handle, std::uint64_t offset, std::uint64_t length);
  void flush(std::int64_t handle);
  void lock(std::int64_t handle, std::uint64_t offset, std::uint64_t length, bool unlock);
  void query_file(std::int64_t handle);
  void set_file(std::int64_t handle);
  void query_path(std::string_view name);
  void query_volume();
  void find_first(std::string_view pattern, std::int64_t most);
  void make_directory(std::string_view name);
  void remove_directory(std::string_view name, bool succeeded);
  void unlink(std::string_view name, bool succeeded);
  void rename(std::string_view from, std::string_view to, bool succeeded);
  void delete_tree(std::string_view name);

 private:
  static constexpr std::uint64_t kLatestNs = INT64_MAX;

  struct Handle {
    FileSlot file = kNoFile;
    SimulatedTree::Number number = 0;
    PathId path = 0;  // as it was opened
  };

  // What a part of a load file needs and nothing has shown to be missing existed before it: the
  // directories of `path`, and the file itself if it must exist.
  void assume(PathId path, bool exists);
  void add(const Operation& operation);
  void stat(PathId path);
  // dbench emulates a case-insensitive client: it searches the directory for a name that is
  // missing.
  void resolve(PathId path);
  int open(PathId path, std::uint32_t flags, std::uint32_t mode, Handle& handle);
  void close(const Handle& handle);
  bool open_directory(PathId path, Handle& handle);
  // The calls from `from` up to `calls`.
  void list(const Handle& directory, std::uint64_t calls, std::uint64_t from = 0);
  void stat(const Handle& handle);
  void make_directory(PathId path, std::uint32_t mode);
  void empty_directory(PathId path, int depth);
  // Counts lines with a status that dbench would not get.
  void compare(int error, bool succeeded);

  TraceBuilder& builder_;
  SimulatedTree tree_;
  std::unordered_map<std::int64_t, Handle> open_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace filereel
