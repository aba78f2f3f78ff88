#include "replay/engine/io_engine.h"

#include <algorithm>
#include <bit>
#include <new>
#include <vector>

#include <stdlib.h>
#include <string.h>

#include "filesets/content/content.h"
#include "replay/engine/parent_cache.h"
#include "replay/engine/system_calls.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

// Page-aligned, and touched before the clock starts so that no page fault is measured.
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(std::max<std::size_t>((size + kPage - 1) / kPage * kPage, kPage)),
        data_(static_cast<std::byte*>(aligned_alloc(kPage, size_))) {
    if (!data_) throw std::bad_alloc();
    memset(data_.get(), 1, size_);
  }
  std::span<std::byte> first(std::uint64_t length) const {
    return {data_.get(), std::min<std::size_t>(size_, length)};
  }

 private:
  struct Free {
    void operator()(std::byte* data) const { free(data); }
  };
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

template <class Calls>
class Executor final : public IoEngine {
 public:
  Executor(const EngineContext& context, std::uint32_t thread)
      : context_(context),
        thread_(thread),
        parents_(*context.paths, context.roots),
        buffer_(context.largest_io) {
    statistics_.examples.reserve(ReplayStatistics::kDivergenceExamples);
  }

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // A stopped replay leaves files open.
  ~Executor() override {
    for (OpenFile& file : context_.open_files) {
      if (const int fd = file.fd.exchange(-1); fd >= 0) Calls::close(fd);
    }
  }

  bool execute(std::span<const Operation> operations, bool stop_on_divergence) noexcept override {
    for (const Operation& operation : operations) {
      if (context_.stop.stop_requested()) return false;
      // Content is made before the watch starts: it is filereel's work, not the file system's.
      if (operation.kind == OperationKind::write && operation.data == DataSource::generated) {
        fill_entry(context_.files->seed, context_.files->entries[operation.entry], operation.offset,
                   buffer_.first(operation.length));
      }
      const std::uint64_t start = now_ns();
      const std::int64_t result = call(operation);
      record(operation, result, now_ns() - start);
      if (context_.board) context_.board->advance(thread_);
      if (result != operation.expected && stop_on_divergence) return false;
    }
    return true;
  }

  bool drain() noexcept override { return true; }

  ReplayStatistics& statistics() override { return statistics_; }

 private:
  std::int64_t call(const Operation& op) noexcept {
    switch (op.kind) {
      case OperationKind::open:
        return open(op);
      case OperationKind::close: {
        const std::int64_t result = Calls::close(context_.open_files[op.file].fd);
        context_.open_files[op.file].fd = -1;
        return result;
      }
      case OperationKind::read: {
        const std::span<std::byte> to = buffer_.first(op.length);
        return Calls::read(context_.open_files[op.file].fd, to.data(), to.size(), op.offset);
      }
      case OperationKind::write: {
        const std::span<std::byte> from = buffer_.first(op.length);
        return Calls::write(context_.open_files[op.file].fd, from.data(), from.size(), op.offset);
      }
      case OperationKind::truncate:
        return Calls::truncate(context_.open_files[op.file].fd, op.offset);
      case OperationKind::copy_range:
        return copy_range(op);
      case OperationKind::make_directory:
        return at_parent(op.path, [&](int parent, const char* name) {
          return Calls::mkdir(parent, name, op.mode);
        });
      case OperationKind::remove_directory:
        parents_.forget();  // the numbers may name another directory from now on
        return at_parent(op.path, [](int parent, const char* name) {
          return Calls::unlink(parent, name, AT_REMOVEDIR);
        });
      case OperationKind::unlink:
        return at_parent(
            op.path, [](int parent, const char* name) { return Calls::unlink(parent, name, 0); });
      case OperationKind::symlink:
        return at_parent(op.path, [&](int parent, const char* name) {
          return Calls::symlink(context_.texts->text(op.text).c_str(), parent, name);
        });
      case OperationKind::link:
        return at_parent(op.path, [&](int parent, const char* name) {
          return parents_.with_second(op.old_path, [&](int old, const char* from) {
            return Calls::link(old, from, parent, name);
          });
        });
      default:
        return -EINVAL;
    }
  }

  template <class Call>
  std::int64_t at_parent(PathId path, Call call) noexcept {
    return parents_.with(path, call);
  }

  std::int64_t open(const Operation& op) noexcept {
    const std::int64_t fd = at_parent(op.path, [&](int parent, const char* name) {
      return Calls::open(parent, name, static_cast<int>(op.flags), op.mode);
    });
    context_.open_files[op.file].fd = static_cast<int>(fd < 0 ? -1 : fd);
    context_.open_files[op.file].path = op.path;
    return fd < 0 ? fd : 0;  // the number means nothing
  }

  // Kernel copies may move less than asked at a time; the operation ends when all is moved.
  std::int64_t copy_range(const Operation& op) noexcept {
    const int from = context_.open_files[op.source].fd;
    const int to = context_.open_files[op.file].fd;
    if (op.method == CopyMethod::reflink) {
      const std::int64_t result = Calls::clone(from, to);
      return result < 0 ? result : static_cast<std::int64_t>(op.length);
    }
    std::uint64_t done = 0;
    while (done < op.length) {
      const std::int64_t moved =
          op.method == CopyMethod::sendfile
              ? Calls::sendfile(from, to, op.offset + done, op.length - done)
              : Calls::copy_file_range(from, to, op.offset + done, op.length - done);
      if (moved < 0) return moved;
      if (moved == 0) break;
      done += static_cast<std::uint64_t>(moved);
    }
    return static_cast<std::int64_t>(done);
  }

  void record(const Operation& op, std::int64_t result, std::uint64_t ns) noexcept {
    KindStatistics& kind = statistics_.kinds[static_cast<std::size_t>(op.kind)];
    kind.latency.record(ns);
    if (result < 0) {
      ++kind.errors;
    } else if (operation_info(op.kind).moves_data) {
      kind.bytes += static_cast<std::uint64_t>(result);
    }
    if (op.counts_file && result >= 0) ++statistics_.files;
    if (result != op.expected) diverge(op, result);
    ++statistics_.operations;
  }

  void diverge(const Operation& op, std::int64_t result) noexcept {
    ++statistics_.divergences;
    ++statistics_.by_class[static_cast<std::size_t>(DivergenceClass::mismatch)];
    if (statistics_.examples.size() == ReplayStatistics::kDivergenceExamples) return;
    const bool names_path = op.path != 0 || op.kind == OperationKind::open;
    statistics_.examples.push_back({op.position, op.thread, DivergenceClass::mismatch, op.kind,
                                    names_path ? op.path : context_.open_files[op.file].path.load(),
                                    op.expected, result});
  }

  EngineContext context_;
  std::uint32_t thread_;
  ParentCache<Calls> parents_;
  Buffer buffer_;
  ReplayStatistics statistics_;
};

}  // namespace

std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t thread) {
  if (kind == EngineKind::null) return std::make_unique<Executor<NullCalls>>(context, thread);
  return std::make_unique<Executor<LinuxCalls>>(context, thread);
}

}  // namespace filereel
