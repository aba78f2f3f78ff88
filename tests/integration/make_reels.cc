// Makes reels that no recorder would: hostile ones, very long ones, evenly timed ones.
//   make_reels hostile NAME OUTSIDE FILE   OUTSIDE: a directory that the reel tries to get at
//   make_reels long OPERATIONS FILE
//   make_reels timed OPERATIONS MICROSECONDS FILE
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "filesets/system/error.h"
#include "traces/model/trace_builder.h"
#include "traces/reel/reel_writer.h"

namespace filereel {
namespace {

class Maker {
 public:
  explicit Maker(const std::string& path) : writer_(path, tables, {}), builder(tables, writer_) {
    TraceThread thread;
    thread.process = thread.thread = 1;
    builder.add_thread(thread);
  }

  TraceTables tables;

 private:
  ReelWriter writer_;

 public:
  TraceBuilder builder;
  std::uint64_t spacing_ns = 1000;

  PathId at(std::string_view path) { return tables.paths.add(Role::near, path); }
  // One component, whatever it holds.
  PathId raw(PathId parent, std::string_view name) { return tables.paths.append(parent, name); }

  void add(const Operation& operation) {
    recorded_.operation = operation;
    recorded_.duration_ns = 100;
    builder.add(recorded_);
    recorded_.start_ns += spacing_ns;
  }
  Operation named(OperationKind kind, PathId path) {
    Operation operation;
    operation.kind = kind;
    operation.path = path;
    return operation;
  }
  Operation open(PathId path, int flags, std::uint32_t mode = 0644) {
    Operation operation = named(OperationKind::open, path);
    operation.flags = static_cast<std::uint32_t>(flags);
    operation.mode = mode;
    operation.file = 0;
    return operation;
  }
  Operation data(OperationKind kind, std::uint64_t offset, std::uint64_t length,
                 std::int64_t expected) {
    Operation operation;
    operation.kind = kind;
    operation.file = 0;
    operation.offset = offset;
    operation.length = length;
    operation.expected = expected;
    return operation;
  }
  Operation close() {
    Operation operation;
    operation.kind = OperationKind::close;
    operation.file = 0;
    return operation;
  }
  void write_to(PathId path, std::uint32_t mode = 0644) {
    add(open(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
    add(data(OperationKind::write, 0, 100, 100));
    add(close());
  }
  // With an initial tree of these entries in the place of the one that the operations imply.
  void claim(std::vector<Entry> entries) { claimed_ = std::move(entries); }
  void finish() {
    TraceTrees trees = builder.trees();
    if (!claimed_.empty()) trees.initial.entries = EntryList(claimed_);
    writer_.finish(builder.info(), trees);
  }

 private:
  RecordedOperation recorded_;
  std::vector<Entry> claimed_;
};

// Everything that could be done by a path that runs through `link`.
void attack(Maker& maker, const std::string& link) {
  const PathId precious = maker.at(link + "/precious");
  maker.write_to(precious);
  maker.write_to(maker.at(link + "/new"));
  maker.add(maker.named(OperationKind::unlink, precious));
  maker.add(maker.named(OperationKind::make_directory, maker.at(link + "/made")));
  maker.add(maker.named(OperationKind::remove_directory, maker.at(link + "/folder")));
  Operation truncate = maker.named(OperationKind::truncate, precious);
  maker.add(truncate);
  Operation mode = maker.named(OperationKind::change_mode, precious);
  mode.mode = 0777;
  maker.add(mode);
  Operation times = maker.named(OperationKind::set_times, precious);
  times.offset = times.second = 1;
  maker.add(times);
  Operation attribute = maker.named(OperationKind::set_xattr, precious);
  attribute.text = maker.tables.texts.add("user.hostile");
  attribute.length = 10;
  maker.add(attribute);
  Operation rename = maker.named(OperationKind::rename, maker.at("stolen"));
  rename.old_path = precious;
  maker.add(rename);
  Operation hard = maker.named(OperationKind::link, maker.at("hard"));
  hard.old_path = precious;
  maker.add(hard);
  Operation soft = maker.named(OperationKind::symlink, maker.at(link + "/soft"));
  soft.text = maker.tables.texts.add("anywhere");
  maker.add(soft);
}

void symlink_then_attack(Maker& maker, const std::string& target) {
  Operation link = maker.named(OperationKind::symlink, maker.at("link"));
  link.text = maker.tables.texts.add(target);
  maker.add(link);
  attack(maker, "link");
  // The link itself in the place of a file.
  Operation file = maker.named(OperationKind::symlink, maker.at("file"));
  file.text = maker.tables.texts.add(target + "/precious");
  maker.add(file);
  maker.write_to(maker.at("file"));
  Operation mode = maker.named(OperationKind::change_mode, maker.at("file"));
  mode.mode = 0777;
  maker.add(mode);
  Operation truncate = maker.named(OperationKind::truncate, maker.at("file"));
  maker.add(truncate);
}

Entry file_entry(std::string path, std::uint32_t mode) {
  Entry made;
  made.path = std::move(path);
  made.mode = mode;
  return made;
}

using Attack = std::function<void(Maker&, const std::string& outside)>;

const std::map<std::string_view, Attack>& attacks() {
  static const std::map<std::string_view, Attack> kAttacks = {
      {"symlink",
       [](Maker& maker, const std::string& outside) { symlink_then_attack(maker, outside); }},
      {"symlink-up",
       [](Maker& maker, const std::string& outside) {
         symlink_then_attack(maker, "../../../../../../../../../../.." + outside);
       }},
      {"magic-link",
       [](Maker& maker, const std::string& outside) {
         symlink_then_attack(maker, "/proc/self/root" + outside);
       }},
      {"device",
       [](Maker& maker, const std::string&) {
         Operation node = maker.named(OperationKind::make_node, maker.at("null"));
         node.mode = S_IFCHR | 0666;
         maker.add(node);
         node.path = maker.at("disk");
         node.mode = S_IFBLK | 0666;
         maker.add(node);
         maker.write_to(maker.at("disk"));
       }},
      {"set-uid",
       [](Maker& maker, const std::string&) {
         maker.write_to(maker.at("program"), 06755);
         Operation mode = maker.named(OperationKind::change_mode, maker.at("program"));
         mode.mode = 06777;
         maker.add(mode);
         maker.claim({file_entry("old", 06755)});
       }},
      {"deep-path",
       [](Maker& maker, const std::string&) {
         PathId at = PathTable::root(Role::near);
         for (int i = 0; i < 5'000; ++i) {
           at = maker.raw(at, "deep");
           maker.add(maker.named(OperationKind::make_directory, at));
         }
       }},
      {"far-offset",
       [](Maker& maker, const std::string&) {
         maker.add(maker.open(maker.at("file"), O_RDWR | O_CREAT));
         maker.add(maker.data(OperationKind::write, INT64_MAX - 50, 100, 100));
         maker.add(maker.data(OperationKind::read, INT64_MAX - 50, 100, 0));
         maker.add(maker.data(OperationKind::truncate, INT64_MAX, 0, 0));
         maker.add(maker.data(OperationKind::allocate, INT64_MAX - 10, 100, 0));
         maker.add(maker.close());
       }},
      {"great-write",
       [](Maker& maker, const std::string&) {
         maker.add(maker.open(maker.at("file"), O_RDWR | O_CREAT));
         maker.add(maker.data(OperationKind::write, 0, 1ULL << 62, 1LL << 62));
         maker.add(maker.close());
       }},
      {"great-initial-file",
       [](Maker& maker, const std::string&) {
         maker.add(maker.named(OperationKind::stat, maker.at("file")));
         Entry great = file_entry("file", 0644);
         great.size = INT64_MAX;
         maker.claim({great});
       }},
      {"many-names",
       [](Maker& maker, const std::string&) {
         const std::string long_name(240, 'n');
         for (int i = 0; i < 1'000'000; ++i) {
           maker.raw(PathTable::root(Role::near), long_name + std::to_string(i));
         }
         maker.write_to(maker.at("file"));
       }},
  };
  return kAttacks;
}

void make_long(Maker& maker, std::uint64_t operations) {
  constexpr std::uint64_t kFileBytes = 1ULL << 30;
  for (FileSlot slot = 0; slot < 64; ++slot) {
    Operation open = maker.open(maker.at("file-" + std::to_string(slot)), O_RDWR | O_CREAT);
    open.file = maker.builder.take_slot();
    maker.add(open);
  }
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < operations; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    Operation op = maker.data(i % 4 == 0 ? OperationKind::write : OperationKind::read,
                              (state >> 20) % kFileBytes / 4096 * 4096, 4096, 4096);
    op.file = static_cast<FileSlot>((state >> 10) % 64);
    maker.add(op);
  }
}

void make_timed(Maker& maker, std::uint64_t operations, std::uint64_t microseconds) {
  maker.spacing_ns = microseconds * 1000;
  maker.add(maker.open(maker.at("file"), O_RDWR | O_CREAT));
  for (std::uint64_t i = 0; i < operations; ++i) {
    maker.add(maker.data(i % 2 == 0 ? OperationKind::write : OperationKind::read,
                         i / 2 % 1000 * 4096, 4096, 4096));
  }
}

int run(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  const std::string path = arguments[count - 1];
  if (mode == "hostile" && count == 5) {
    const auto found = attacks().find(arguments[2]);
    if (found == attacks().end()) return 2;
    Maker maker(path);
    maker.builder.take_slot();
    found->second(maker, arguments[3]);
    maker.finish();
  } else if (mode == "names" && count == 2) {
    for (const auto& [name, attack] : attacks()) std::puts(std::string(name).c_str());
  } else if (mode == "long" && count == 4) {
    Maker maker(path);
    make_long(maker, std::stoull(arguments[2]));
    maker.finish();
  } else if (mode == "timed" && count == 5) {
    Maker maker(path);
    maker.builder.take_slot();
    make_timed(maker, std::stoull(arguments[2]), std::stoull(arguments[3]));
    maker.finish();
  } else {
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace filereel

int main(int count, char** arguments) {
  try {
    return filereel::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_reels: %s\n", error.what());
    return 1;
  }
}
