// fio's iolog, version 3. It has reads, writes and syncs of files by name. Names are relative to
// the trace's root, so that fio works below its current directory.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "traces/export/exporters.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestName = 255;  // limit of fio

// Flags of opens that make a difference, and that a log cannot hold.
constexpr std::pair<std::uint32_t, std::string_view> kLostFlags[] = {
    {O_TRUNC, "truncation of files by open"},
    {open_flags::kDirect, "direct I/O of files (for fio: direct=1)"},
    {O_DSYNC, "synchronous writes to files (for fio: sync=1)"},
};

class IologWriter {
 public:
  explicit IologWriter(const TraceTables& tables) : tables_(tables) {}

  void append(const RecordedOperation& recorded, std::string& out) {
    const Operation& operation = recorded.operation;
    const OperationInfo& kind = operation_info(operation.kind);
    if (!kind.is_call) return;
    // fio waits for the differences.
    now_us_ = std::max(now_us_, recorded.start_ns / 1000);
    if (operation.expected < 0) {
      ++losses_["failed operations"];
    } else if (operation.kind == OperationKind::open) {
      open(operation, out);
    } else if (const Action action = action_of(operation); !action.name.empty()) {
      use(operation, action, out);
    } else if (operation.kind == OperationKind::close) {
      close(operation, out);
    } else {
      ++losses_[fmt::format("{} operations", kind.name)];
    }
  }

  ExportLosses& losses() { return losses_; }

 private:
  struct Action {
    std::string_view name;
    std::uint64_t offset = 0, length = 0;
  };

  static Action action_of(const Operation& operation) {
    const auto moved = static_cast<std::uint64_t>(operation.expected);
    switch (operation.kind) {
      case OperationKind::read:
        return {"read", operation.offset, moved};
      case OperationKind::write:
        return {"write", operation.offset, moved};
      case OperationKind::sync:
        return {"sync"};
      case OperationKind::sync_data:
        return {"datasync"};
      case OperationKind::allocate:
        if ((operation.flags & FALLOC_FL_PUNCH_HOLE) == 0) return {};
        return {"trim", operation.offset, operation.length};
      default:
        return {};
    }
  }

  void open(const Operation& operation, std::string& out) {
    Slot slot;
    slot.path = operation.path;
    const std::string name = tables_.paths.relative(operation.path);
    const bool holds = name.size() <= kLongestName && std::ranges::none_of(name, [](char c) {
                         return static_cast<unsigned char>(c) <= ' ';
                       });
    if ((operation.flags & open_flags::kTemporary) == open_flags::kTemporary) {
      slot.loss = "operations on unnamed files";
    } else if ((operation.flags & open_flags::kDirectory) != 0) {
      slot.loss = "operations on directories";
    } else if (!holds) {
      slot.loss = "operations on files with names unsupported by fio";
    }
    if (slot.loss.empty()) {
      for (const auto& [flags, loss] : kLostFlags) {
        if ((operation.flags & flags) != 0) ++losses_[std::string(loss)];
      }
      if (added_.insert(operation.path).second) line(slot, "add", out);
      if (users_[operation.path]++ == 0) line(slot, "open", out);
    } else {
      ++losses_[std::string(slot.loss)];
    }
    slots_[operation.file] = slot;
  }

  void use(const Operation& operation, const Action& action, std::string& out) {
    const auto found = slots_.find(operation.file);
    if (found == slots_.end()) {
      ++losses_["operations on files with no recorded open"];
    } else if (!found->second.loss.empty()) {
      ++losses_[std::string(found->second.loss)];
    } else if (action.length == 0 && !operation_is_sync(operation)) {
      ++losses_["reads and writes of zero bytes"];
    } else if (action.length > std::numeric_limits<std::uint32_t>::max()) {
      ++losses_["operations of 4 GiB or more"];
    } else {
      if (operation.asynchronous) ++losses_["asynchronous requests (for fio: ioengine, iodepth)"];
      line(found->second, action.name, out);
      out.pop_back();
      fmt::format_to(std::back_inserter(out), " {} {}\n", action.offset, action.length);
    }
  }

  static bool operation_is_sync(const Operation& operation) {
    return operation.kind == OperationKind::sync || operation.kind == OperationKind::sync_data;
  }

  void close(const Operation& operation, std::string& out) {
    const auto found = slots_.find(operation.file);
    if (found == slots_.end()) return;
    if (found->second.loss.empty() && --users_[found->second.path] == 0) {
      line(found->second, "close", out);
    }
    slots_.erase(found);
  }

  struct Slot {
    PathId path = 0;
    std::string_view loss;  // reason for its absence from the log
  };

  void line(const Slot& slot, std::string_view action, std::string& out) const {
    fmt::format_to(std::back_inserter(out), "{} {} {}\n", now_us_,
                   tables_.paths.relative(slot.path), action);
  }

  const TraceTables& tables_;
  ExportLosses losses_;
  std::uint64_t now_us_ = 0;
  std::unordered_map<FileSlot, Slot> slots_;
  std::unordered_set<PathId> added_;
  std::unordered_map<PathId, std::uint64_t> users_;  // a name may be open several times
};

ExportLosses write_iolog(RecordedSource& source, const TraceTables& tables, const TraceInfo& info,
                         const std::function<void(std::string_view)>& out) {
  IologWriter writer(tables);
  std::string text = "fio version 3 iolog\n";
  write_pieces(source, text, out, [&](const RecordedOperation& operation, std::string& lines) {
    writer.append(operation, lines);
  });
  if (info.threads.size() > 1) {
    writer.losses()["threads after the first: only their order is kept"] = info.threads.size() - 1;
  }
  return writer.losses();
}

}  // namespace

Exporter fio_exporter() {
  return {.name = "fio",
          .description = "fio iolog, version 3: reads, writes and syncs",
          .suffix = ".fio",
          .write = write_iolog};
}

}  // namespace filereel
