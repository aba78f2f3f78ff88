// Traces to make reels of, in tests and benchmarks.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "filesets/system/random.h"
#include "tests/entries.h"
#include "traces/recorded_trace.h"
#include "traces/reel/operation_check.h"

struct SampleTrace {
  filereel::TraceTables tables;
  std::vector<filereel::RecordedOperation> operations;
  filereel::TraceInfo info;
  filereel::TraceTrees trees;
};

inline bool same_operation(const filereel::RecordedOperation& a,
                           const filereel::RecordedOperation& b) {
  const filereel::Operation& x = a.operation;
  const filereel::Operation& y = b.operation;
  return a.start_ns == b.start_ns && a.duration_ns == b.duration_ns && x.kind == y.kind &&
         x.data == y.data && x.method == y.method && x.counts_file == y.counts_file &&
         x.asynchronous == y.asynchronous && x.loose == y.loose && x.hole == y.hole &&
         x.flags == y.flags && x.mode == y.mode && x.file == y.file && x.source == y.source &&
         x.path == y.path && x.old_path == y.old_path && x.entry == y.entry && x.text == y.text &&
         x.thread == y.thread && x.offset == y.offset && x.length == y.length &&
         x.second == y.second && x.expected == y.expected && x.position == y.position;
}

// Operations of every kind that a reel may hold, with any values in the members that they use.
class RandomOperations {
 public:
  // Of the first `kinds` kinds.
  explicit RandomOperations(std::uint64_t seed, std::size_t kinds)
      : random_(seed), kinds_(static_cast<std::uint32_t>(kinds)) {}

  static constexpr std::uint32_t kThreads = 5;
  static constexpr std::uint32_t kSlots = 9;
  static constexpr std::uint32_t kFiles = 300;

  filereel::RecordedOperation next(std::uint32_t paths, std::uint32_t texts) {
    using filereel::Field, filereel::has;
    filereel::RecordedOperation recorded;
    filereel::Operation& op = recorded.operation;
    const filereel::KindRules* rules = nullptr;
    do {
      op.kind = static_cast<filereel::OperationKind>(below(kinds_));
      rules = &filereel::kind_rules()[static_cast<std::size_t>(op.kind)];
    } while (!rules->known);
    const Field fields = filereel::operation_info(op.kind).fields;
    if (below(8) == 0) thread_ = below(kThreads);
    op.thread = thread_;
    op.position = position_++;
    op.data = below(9) == 0 ? filereel::DataSource::last_read : filereel::DataSource::generated;
    op.counts_file = below(7) == 0;
    op.asynchronous = below(9) == 0;
    op.loose = below(9) == 0;
    op.hole = below(9) == 0;
    if (has(fields, Field::length)) op.length = size();
    op.expected = below(5) == 0 ? -static_cast<std::int64_t>(1 + below(40)) : 0;
    if (rules->moves_data && op.expected == 0) {
      op.expected = static_cast<std::int64_t>(below(4) == 0 ? op.length / 3 : op.length);
    }
    const bool by_file = below(2) == 0;
    const bool may_choose = has(fields, Field::target) || has(fields, Field::old_path);
    if (has(fields, Field::file | Field::target) && (by_file || !may_choose)) {
      op.file = below(6) == 0 ? filereel::kNoFile : below(kSlots);
    }
    if (has(fields, Field::source)) op.source = below(kSlots);
    const bool named = op.file == filereel::kNoFile;
    if (has(fields, Field::old_path) && named) op.old_path = below(paths);
    if (has(fields, Field::path) || (has(fields, Field::target) && named)) op.path = below(paths);
    if (has(fields, Field::flags)) op.flags = below(3) == 0 ? below(UINT32_MAX) : O_RDWR | O_CREAT;
    if (has(fields, Field::mode)) op.mode = below(3) == 0 ? below(07777) : 0644;
    if (has(fields, Field::offset)) op.offset = number(rules->offset_in_file);
    if (has(fields, Field::second)) {
      op.second = rules->second_is_thread ? below(kThreads) : number(rules->second_in_file);
    }
    if (has(fields, Field::text)) op.text = below(texts);
    if (has(fields, Field::method)) op.method = static_cast<filereel::CopyMethod>(below(5));
    // As columns there are: what uses a file or a path may have an identity.
    if (has(fields, Field::path | Field::file | Field::target | Field::source)) {
      op.entry = below(4) == 0 ? filereel::kNoFileId : below(kFiles);
    }
    time_ += below(50'000);
    recorded.start_ns = time_ - std::min<std::uint64_t>(time_, below(20'000));
    recorded.duration_ns = below(10) == 0 ? 0 : below(30'000);
    return recorded;
  }

 private:
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(random_.below(limit));
  }
  std::uint64_t size() {
    return below(4) == 0 ? random_.below(std::uint64_t{INT64_MAX} + 1) : 4096 * (below(4) + 1);
  }
  std::uint64_t number(bool in_file) {
    if (below(20) == 0) return in_file ? INT64_MAX : UINT64_MAX;
    return below(3) == 0 ? random_.below(in_file ? INT64_MAX : UINT64_MAX) : 4096 * below(100);
  }

  filereel::Random random_;
  std::uint32_t kinds_;
  std::uint32_t thread_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t time_ = 0;
};

// A small trace of everything that a reel can hold.
inline void fill_sample(SampleTrace& sample, std::size_t operations,
                        std::size_t kinds = filereel::kOperationKinds) {
  using filereel::EntryKind, filereel::Role;
  filereel::PathTable& paths = sample.tables.paths;
  for (const char* path : {"home", "home/a", "home/a/file-1", "home/a/file-2", "home/a/b",
                           "home/link", "home/a/file-10", "odd \n\xff name"}) {
    paths.add(Role::near, path);
  }
  for (const char* text : {"a/file-1", "user.name", "user.nothing"}) sample.tables.texts.add(text);
  RandomOperations random(7, kinds);
  for (std::size_t i = 0; i < operations; ++i) {
    sample.operations.push_back(
        random.next(static_cast<std::uint32_t>(paths.size()),
                    static_cast<std::uint32_t>(sample.tables.texts.size())));
  }
  sample.info.facts = {{"source", "test"}, {"command", "cp -a \"a\" b\n"}};
  for (std::uint32_t t = 0; t < RandomOperations::kThreads; ++t) {
    filereel::TraceThread thread;
    thread.process = 100 + t / 2;
    thread.thread = 100 + t;
    thread.name = t == 0 ? "" : "worker";
    if (t > 0) thread.parent = t - 1;
    sample.info.threads.push_back(thread);
  }
  sample.info.slots = sample.info.mappings = RandomOperations::kSlots + 1;
  sample.info.files = RandomOperations::kFiles;
  sample.info.recorder_ns = 310;
  sample.info.waits = true;
  sample.info.check = {.done = true,
                       .why_not = "",
                       .names = 20,
                       .unchecked = 3,
                       .differing = 1,
                       .changed_later = 2,
                       .by_others = 1,
                       .writes = 7,
                       .differences = {"/a/b is missing"},
                       .others = {"/c exists"}};
  sample.info.lost = {{"lost events", 3}};
  sample.info.approximated = {{"names that were too long", 1}, {"offsets", 12'345'678'901}};

  filereel::FileSet& initial = sample.trees.initial;
  initial =
      set_of({directory("home"), directory("home/a", 0700), file("home/a/file-1", 12'345),
              sparse_file("home/a/file-2", 1 << 20, {{4096, 8192}, {65'536, 4096}}, {5, 500, 20}),
              link_to(EntryKind::hard_link, "home/a/b", "home/a/file-2"),
              link_to(EntryKind::symlink, "home/link", "a/file-1")});
  initial.description = "before";
  initial.entries.change(2, [](auto& one) { one.mtime_ns = 1'700'000'000'123'456'789; });
  initial.entries.change(3, [](auto& one) { one.mtime_ns = -1; });
  sample.trees.absent = 4;
  filereel::FileSet& after = sample.trees.final;
  after = initial;
  after.name = "after";
  // Neither the path nor the text is in the tables.
  after.entries.push_back(directory("home/unseen"));
  after.entries.push_back(link_to(EntryKind::symlink, "home/unseen/link", "nowhere"));
}

// What `tar xf` does, which is most of what is hard to store: every file is new, with a size, times
// and durations that nothing predicts.
inline void fill_extraction(SampleTrace& sample, std::uint32_t files) {
  using filereel::OperationKind, filereel::Role;
  filereel::Random random(1);
  std::uint64_t time_us = 0;
  const auto add = [&](filereel::Operation op) -> void {
    op.position = sample.operations.size();
    time_us += 15 + random.below(30);
    const std::uint64_t duration = 8 + random.below(1 + random.below(60));
    sample.operations.push_back({op, time_us * 1000, duration * 1000});
    time_us += duration;
  };
  const char* const words[] = {"main", "test", "config", "io", "util", "readme", "index", "a"};
  filereel::FileSet& after = sample.trees.final;
  after.name = "after";
  std::string folder;
  for (std::uint32_t f = 0; f < files; ++f) {
    if (f % 20 == 0) {
      folder = "folder" + std::to_string(f / 400);
      if (f % 400 == 0) {
        after.entries.push_back(directory(folder));
        add({.kind = OperationKind::make_directory,
             .mode = 0755,
             .path = sample.tables.paths.add(Role::near, folder)});
      }
      folder += "/" + std::string(words[random.below(8)]) + std::to_string(f / 20);
      after.entries.push_back(directory(folder));
      add({.kind = OperationKind::make_directory,
           .mode = 0755,
           .path = sample.tables.paths.add(Role::near, folder)});
    }
    const std::string name = folder + "/" + words[random.below(8)] + "_" + words[random.below(8)] +
                             std::to_string(random.below(100)) + "." + std::to_string(f % 20) +
                             ".c";
    const std::uint64_t size = 1 + (random.below(1 << 18) >> random.below(12));
    after.entries.push_back(file(name, size, {f, 500, 0}));
    add({.kind = OperationKind::open,
         .flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
         .mode = 0600,
         .file = 0,
         .path = sample.tables.paths.add(Role::near, name),
         .entry = f});
    for (std::uint64_t at = 0; at < size; at += 10'240) {
      const std::uint64_t length = std::min<std::uint64_t>(10'240, size - at);
      add({.kind = OperationKind::write,
           .file = 0,
           .entry = f,
           .offset = at,
           .length = length,
           .expected = static_cast<std::int64_t>(length)});
    }
    add({.kind = OperationKind::set_times,
         .file = 0,
         .entry = f,
         .offset = filereel::kTimeOmit,
         .second = (1'600'000'000 + random.below(100'000'000)) * 1'000'000'000});
    add({.kind = OperationKind::change_owner, .file = 0, .entry = f});
    add({.kind = OperationKind::change_mode, .mode = 0644, .file = 0, .entry = f});
    add({.kind = OperationKind::close, .file = 0, .entry = f});
  }
  sample.info.threads.emplace_back();
  sample.info.files = files;
}
