#include "traces/workload/step_stream.h"

#include <algorithm>

#include <fcntl.h>

#include "filesets/system/random.h"
#include "traces/open_flags.h"
#include "traces/operation_makers.h"
#include "traces/operation_stream.h"
#include "traces/workload/pacer.h"

namespace filereel {
namespace {

constexpr FileSlot kFile = 0, kCopy = 1, kDirectory = 2;
static_assert(kDirectory < kStepSlots);
constexpr std::uint64_t kListBytes = 32 << 10;  // buffer of the C library's readdir
constexpr std::uint32_t kListed = 1000;         // entries in such a buffer: names are short

// The current state of one of the thread's files.
struct OwnFile {
  PathId name() const { return renamed ? file->other_name : file->path; }

  const StepFile* file;
  std::uint64_t size;
  bool renamed = false;
};

struct StepState {
  explicit StepState(const StepJob& what) : job(what), pacer(job.threads), random(job.seed) {
    for (std::size_t i = job.thread; i < job.files.size(); i += job.threads_of_group) {
      mine.push_back({.file = &job.files[i], .size = job.files[i].size});
    }
    if (job.threads.order == FileOrder::shuffled) random.shuffle(mine);
  }

  bool is_enough() const {
    return mine.empty() || (job.operations > 0 && files >= job.operations) ||
           (job.bytes > 0 && bytes >= job.bytes) ||
           (job.passes > 0 && files >= job.passes * mine.size());
  }

  // The current file.
  OwnFile& draw_file() {
    return job.threads.order == FileOrder::random ? mine[random.below(mine.size())]
                                                  : mine[files % mine.size()];
  }

  const StepChoice& draw_choice() {
    const auto& choices = job.threads.choices;
    if (choices.size() == 1) return choices.front();
    std::uint64_t number = random.below(100'000);
    for (const StepChoice& choice : choices) {
      if (number < choice.share) return choice;
      number -= choice.share;
    }
    return choices.back();
  }

  StepJob job;
  Pacer pacer;
  Random random;
  std::vector<OwnFile> mine;
  std::uint64_t files = 0, bytes = 0;  // done
};

// The flags with which a step opens the file that it writes.
int write_flags(StepKind kind) {
  switch (kind) {
    case StepKind::create:
      return O_WRONLY | O_CREAT | O_EXCL;
    case StepKind::rewrite:
    case StepKind::replace:
    case StepKind::copy:
      return O_WRONLY | O_CREAT | O_TRUNC;
    default:
      return O_WRONLY;
  }
}

// The transfer of a step on one file.
struct Transfer {
  Transfer(const OwnFile& own, const FileStep& step)
      : file(*own.file),
        name(own.name()),
        reads(step.kind == StepKind::read || step.kind == StepKind::copy),
        writes(step.kind != StepKind::read),
        slot(step.kind == StepKind::copy ? kCopy : kFile),
        end(own.size) {
    if (step.kind == StepKind::append) {
      begin = end;
      end += step.size;
    } else if (write_flags(step.kind) != O_WRONLY && step.kind != StepKind::copy) {
      end = file.size;  // the file is truncated
    }
  }

  Operation open(const FileStep& step, bool for_writing) const {
    const PathId path = !for_writing                     ? name
                        : step.kind == StepKind::replace ? file.beside
                        : step.kind == StepKind::copy    ? file.copy
                                                         : name;
    Operation operation = for_writing ? open_file(path, slot, write_flags(step.kind), file.mode)
                                      : open_file(path, kFile, O_RDONLY);
    operation.entry = file.entry;
    return operation;
  }

  Operation read(std::uint64_t at, std::uint64_t length) const {
    Operation operation = data(OperationKind::read, kFile, at, length);
    operation.entry = file.entry;
    return operation;
  }

  Operation write(std::uint64_t at, std::uint64_t length) const {
    Operation operation = data(OperationKind::write, slot, at, length);
    operation.entry = file.entry;
    operation.data = reads ? DataSource::last_read : DataSource::generated;
    return operation;
  }

  const StepFile& file;
  PathId name;
  bool reads, writes;
  FileSlot slot;                 // destination
  std::uint64_t begin = 0, end;  // range transferred
};

Operation rename_to(PathId path, PathId old_path, bool counts_file) {
  Operation operation = named(OperationKind::rename, path);
  operation.old_path = old_path;
  operation.counts_file = counts_file;
  return operation;
}

// Removal and attributes.
Operation on_name(OperationKind kind, PathId name, FileId entry, bool counts_file) {
  Operation operation = named(kind, name);
  operation.entry = entry;
  operation.counts_file = counts_file;
  return operation;
}

Operation list_directory(bool first) {
  Operation operation = of_file(OperationKind::list, kDirectory);
  operation.length = kListBytes;
  operation.offset = first ? 0 : 1;
  operation.loose = true;  // the file system determines the size of a listing
  return operation;
}

OperationStream steps(StepState& state) {
  const StepJob& job = state.job;
  if (job.thread == 0) {
    for (const PathId directory : job.directories) co_yield make_directory(directory, 0755);
  }
  // All directories exist before any thread continues.
  if (!job.directories.empty() && job.threads.count > 1) co_yield Operation{};
  for (; !state.is_enough(); ++state.files) {
    if (state.pacer.paces()) co_yield state.pacer.next(state.files);
    OwnFile& own = state.draw_file();
    const StepFile& file = *own.file;
    const std::vector<FileStep>& steps_on_file = state.draw_choice().steps;
    for (const FileStep& step : steps_on_file) {
      const bool last = &step == &steps_on_file.back();  // a file counts once, however many steps
      if (moves_content(step.kind)) {
        const Transfer transfer(own, step);
        if (transfer.reads) co_yield transfer.open(step, false);
        if (transfer.writes) co_yield transfer.open(step, true);
        for (std::uint64_t at = transfer.begin; at < transfer.end; at += step.block) {
          const std::uint64_t length = std::min(step.block, transfer.end - at);
          state.bytes += length;
          if (transfer.reads) co_yield transfer.read(at, length);
          if (transfer.writes) co_yield transfer.write(at, length);
        }
        if (step.sync != SyncKind::none) co_yield of_file(operation_of(step.sync), transfer.slot);
        if (transfer.reads) co_yield close_file(kFile, last && !transfer.writes);
        if (transfer.writes) co_yield close_file(transfer.slot, last);
        if (step.kind == StepKind::replace) co_yield rename_to(transfer.name, file.beside, false);
        if (step.kind != StepKind::copy) own.size = transfer.end;
        continue;
      }
      const PathId name = own.name();
      switch (step.kind) {
        case StepKind::rename:
          own.renamed = !own.renamed;
          co_yield rename_to(own.name(), name, last);
          break;
        case StepKind::list:
          co_yield open_file(file.directory, kDirectory, O_RDONLY | open_flags::kDirectory);
          for (std::uint32_t call = 0; call <= file.siblings / kListed + 1; ++call) {
            co_yield list_directory(call == 0);
          }
          co_yield close_file(kDirectory, last);
          break;
        case StepKind::remove:
          own.size = file.size;
          co_yield on_name(OperationKind::unlink, name, file.entry, last);
          break;
        default:
          co_yield on_name(OperationKind::stat, name, file.entry, last);
          break;
      }
    }
  }
}

class StepSource final : public OperationSource {
 public:
  explicit StepSource(const StepJob& job) : state_(job), stream_(steps(state_)) {}
  std::size_t next(std::span<Operation> out) override { return cut_ ? 0 : stream_.next(out); }
  // Interrupted work is in the middle of a file: nothing needs to be completed.
  void wind_up() noexcept override { cut_ = true; }

 private:
  StepState state_;
  OperationStream stream_;
  bool cut_ = false;
};

}  // namespace

std::unique_ptr<OperationSource> make_step_source(const StepJob& job) {
  return std::make_unique<StepSource>(job);
}

std::uint64_t largest_block(const RecipeThreads& threads) {
  std::uint64_t largest = 0;
  for (const StepChoice& choice : threads.choices) {
    for (const FileStep& step : choice.steps) {
      if (moves_content(step.kind)) largest = std::max(largest, step.block);
    }
  }
  return largest;
}

}  // namespace filereel
