#include "replay/run/baseline_run.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/programs.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/access_shapes.h"
#include "replay/json.h"
#include "replay/results/block_baseline.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/observer.h"
#include "replay/volumes/page_cache.h"

namespace filereel {
namespace {

// fio separates several names by colons.
std::string one_name(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (c == ':' || c == '\\') name += '\\';
    name += c;
  }
  return name;
}

std::vector<std::string> command_of(const FioJob& job) {
  std::vector<std::string> command = {"fio",
                                      "--name=baseline",
                                      "--filename=" + one_name(job.path),
                                      "--rw=" + job.pattern,
                                      fmt::format("--bs={}", job.block_size),
                                      fmt::format("--size={}", job.size),
                                      fmt::format("--iodepth={}", job.depth),
                                      fmt::format("--runtime={:.0f}ms", job.seconds * 1000),
                                      "--direct=1",
                                      "--ioengine=libaio",
                                      "--thread",  // no process that could outlive this one
                                      "--allow_file_create=0",
                                      "--fallocate=none",
                                      "--randrepeat=1",
                                      "--norandommap",
                                      "--refill_buffers",  // some drives compress
                                      "--lat_percentiles=1",
                                      "--clat_percentiles=0",
                                      "--output-format=json"};
  if (job.again) command.emplace_back("--time_based");
  return command;
}

// fio's message. It is a line of its own, before, within or after the JSON.
std::string complaint(const std::string& output) {
  constexpr std::string_view kOwn = "fio: ";
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kOwn)) return printable(line.substr(kOwn.size()));
  }
  return "no reason given";
}

// fio's total latency ("lat"), in nanoseconds. Its completion latency ("clat") excludes submission,
// in which a request can wait or even complete. A program sees the total latency.
BlockLatency latency_of(const Json& direction) {
  constexpr double kMicro = 1e-3;
  const Json& latency = direction.at("lat_ns");
  const auto percentile = [&](const char* name) {
    return latency.at("percentile").at(name).get<double>() * kMicro;
  };
  return {.mean_us = latency.at("mean").get<double>() * kMicro,
          .p50_us = percentile("50.000000"),
          .p99_us = percentile("99.000000"),
          .p999_us = percentile("99.900000"),
          .max_us = latency.at("max").get<double>() * kMicro};
}

}  // namespace

void check_fio() {
  if (find_program("fio")) return;
  throw Error(ErrorKind::failed,
              fmt::format("--with-block-baseline needs fio, which is not installed; {}",
                          install_advice("fio")));
}

FioFigures fio_figures(std::string_view output) {
  const std::size_t begin = output.find('{'), end = output.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    throw Error(ErrorKind::failed, "fio printed no results");
  }
  constexpr std::string_view kAdvice = "install fio 3, or omit --with-block-baseline";
  try {
    const Json json = parse_json(output.substr(begin, end + 1 - begin), "fio's output", kAdvice);
    const Json& job = json.at("jobs").at(0);
    FioFigures figures;
    figures.version = json.at("fio version").get<std::string>();
    if (figures.version.starts_with("fio-")) figures.version.erase(0, 4);
    for (const char* direction : {"read", "write"}) {
      const Json& part = job.at(direction);
      const auto bytes = part.at("io_bytes").get<std::uint64_t>();
      if (bytes == 0) continue;
      figures.latency = figures.bytes > 0 ? std::nullopt : std::optional(latency_of(part));
      figures.bytes += bytes;
      figures.mb_per_s += part.at("bw_bytes").get<double>() / 1e6;
      figures.iops += part.at("iops").get<double>();
    }
    return figures;
  } catch (const Json::exception&) {
    throw_failed(
        fmt::format("fio's output lacks figures or has others than expected; {}", kAdvice));
  }
}

std::optional<FioFigures> run_fio(const FioJob& job, const std::stop_token& stop) {
  constexpr double kLook = 0.05;    // seconds between checks for a stop
  constexpr double kPatience = 30;  // seconds beyond the job's duration
  ChildProcess child(command_of(job));
  std::optional<int> status;
  for (double waited = 0; !status; waited += kLook) {
    if (stop.stop_requested()) return std::nullopt;  // the destructor ends the child
    if (waited > job.seconds + kPatience) {
      throw Error(ErrorKind::failed, fmt::format("fio did not finish within {:.0f} s", waited));
    }
    status = child.wait(kLook);
  }
  const std::string output = child.output();
  if (*status != 0) {
    throw Error(ErrorKind::failed,
                fmt::format("fio exited with status {}: {}", *status, complaint(output)));
  }
  FioFigures figures = fio_figures(output);
  if (figures.bytes > 0) return figures;
  throw Error(ErrorKind::failed, fmt::format("fio transferred no data: {}", complaint(output)));
}

namespace {

constexpr std::size_t kMostShapes = 4;
constexpr double kSeconds = 2;            // per pattern
constexpr double kFillSeconds = 10;       // at most
constexpr std::uint64_t kArea = 1 << 30;  // maximum size of the measured area

// A path by which fio can open the file. It has no name that could later refer to another file.
std::string path_of(int descriptor) {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor);
}

// The large file in a directory.
class BaselineFile {
 public:
  explicit BaselineFile(int root) : root_(root) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_.reset(openat(root_, std::string(kBaselineFile).c_str(), kFlags, 0600));
    if (file_) return;
    throw Error(ErrorKind::failed,
                fmt::format("cannot create {}: {}", kBaselineFile, error_text(errno)));
  }
  BaselineFile(const BaselineFile&) = delete;
  BaselineFile& operator=(const BaselineFile&) = delete;
  ~BaselineFile() { unlinkat(root_, std::string(kBaselineFile).c_str(), 0); }

  int get() const { return file_.get(); }

  // fio would try to create a shorter file again, which is not allowed here.
  void resize(std::uint64_t size) {
    if (ftruncate(file_.get(), static_cast<off_t>(size)) == 0) return;
    throw Error(ErrorKind::failed, fmt::format("cannot resize {} to {}: {}", kBaselineFile,
                                               format_size(size), error_text(errno)));
  }

 private:
  int root_;
  Descriptor file_;
};

class BaselineRun {
 public:
  BaselineRun(const Volume& volume, const std::string& target, RunObserver& observer,
              const std::stop_token& stop)
      : volume_(volume), target_(target), observer_(observer), stop_(stop) {}

  // False if the stop was requested. baselines() holds what was measured in any case.
  bool measure(std::span<const AccessShape> shapes) {
    const int raw = volume_.raw();
    if (raw >= 0) return measure_on(raw, "device", area_of(volume_.capacity()), shapes);
    if (!can_do_direct_io(volume_.root(), std::string(kBaselineFile), 4 << 10, 4 << 10)) {
      throw Error(ErrorKind::failed, "its files do not support direct I/O");
    }
    const std::uint64_t size = area_of(volume_.free_bytes().value_or(2 * kArea));
    BaselineFile file(volume_.root());
    file.resize(size);
    return measure_on(file.get(), "file", size, shapes);
  }

  std::vector<BlockBaseline>& baselines() { return baselines_; }

 private:
  static std::uint64_t area_of(std::uint64_t room) {
    const std::uint64_t size = std::min(kArea, room / 2) / kMiB * kMiB;
    if (size == 0) throw Error(ErrorKind::failed, "not enough space");
    return size;
  }

  bool measure_on(int descriptor, const std::string& on, std::uint64_t size,
                  std::span<const AccessShape> shapes) {
    FioJob job{.path = path_of(descriptor), .pattern = "write"};
    job.size = size;
    job.block_size = kMiB;
    job.depth = kCachedDepth;
    job.seconds = kFillSeconds;
    const std::optional<FioFigures> filled = run(job, "fill");
    if (!filled) return false;
    // Areas never written read faster than the device can.
    job.size = std::min(job.size, filled->bytes / kMiB * kMiB);
    if (job.size == 0) {  // fio takes 0 for the whole file
      throw Error(ErrorKind::failed, fmt::format("less than {} was written in {:.0f} s",
                                                 format_binary_size(kMiB), kFillSeconds));
    }
    job.again = true;
    job.seconds = kSeconds;
    for (const AccessShape& shape : shapes) {
      job.block_size = baseline_block_size(shape.block_size);
      job.depth = shape.depth;
      for (const bool random : {false, true}) {
        for (const bool writes : {true, false}) {
          job.pattern = baseline_pattern(random, writes);
          const std::optional<FioFigures> figures = run(job, job.pattern);
          if (!figures) return false;
          baselines_.push_back({"", on, job.pattern, job.block_size, job.depth, figures->mb_per_s,
                                figures->iops, figures->version, figures->latency});
        }
      }
    }
    return true;
  }

  std::optional<FioFigures> run(const FioJob& job, const std::string& what) {
    const ReplayProgress progress;
    const StepInfo step{.file_system = "block level",
                        .set = target_,
                        .operation = fmt::format("{} {}", what, format_binary_size(job.block_size)),
                        .seconds = job.seconds};
    const StepWatch watch(observer_, step, progress);
    return run_fio(job, stop_);
  }

  const Volume& volume_;
  const std::string& target_;
  RunObserver& observer_;
  const std::stop_token& stop_;
  std::vector<BlockBaseline> baselines_;
};

// The result's baselines of the shape on any file system, each pattern once.
std::vector<BlockBaseline> known_of(const Result& result, const AccessShape& shape) {
  std::vector<BlockBaseline> known;
  for (const BlockBaseline& baseline : result.baselines) {
    const bool fits = baseline.block_size == baseline_block_size(shape.block_size) &&
                      baseline.depth == shape.depth;
    const bool told = contains(known, baseline.pattern, &BlockBaseline::pattern);
    if (fits && !told) known.push_back(baseline);
  }
  return known;
}

}  // namespace

std::optional<std::vector<BlockBaseline>> measure_baselines(const Volume& volume,
                                                            std::span<const AccessShape> shapes,
                                                            RunObserver& observer,
                                                            const std::stop_token& stop,
                                                            Result& result) {
  if (shapes.size() > kMostShapes) {
    result.warn({"block-baseline-partial",
                 fmt::format("the block baseline covers {} of block size and queue depth",
                             counted_of(kMostShapes, shapes.size(), "combination")),
                 "measure fewer points (--sweep) to cover all"});
    shapes = shapes.first(kMostShapes);
  }
  std::vector<BlockBaseline> known;
  std::vector<AccessShape> missing;
  for (const AccessShape& shape : shapes) {
    const std::vector<BlockBaseline> of_shape = known_of(result, shape);
    known.insert(known.end(), of_shape.begin(), of_shape.end());
    if (of_shape.empty()) missing.push_back(shape);
  }
  if (missing.empty()) return known;
  const std::string target = described(volume.describe(), result).target;
  BaselineRun run(volume, target, observer, stop);
  try {
    if (!run.measure(missing)) return std::nullopt;
  } catch (const Error& error) {
    result.warn({"block-baseline-failed",
                 fmt::format("the block baseline of {} is {}: {}", target,
                             run.baselines().empty() ? "missing" : "incomplete", error.what()),
                 "omit --with-block-baseline, or use another volume"});
  }
  std::ranges::move(run.baselines(), std::back_inserter(known));
  return known;
}

double baseline_seconds(std::size_t shapes) {
  constexpr double kPatterns = 4, kUsualFill = kFillSeconds / 2;
  if (shapes == 0) return 0;
  return kUsualFill + kPatterns * kSeconds * static_cast<double>(std::min(shapes, kMostShapes));
}

void add_baselines(std::span<const BlockBaseline> baselines, const std::string& file_system,
                   Result& result) {
  for (BlockBaseline baseline : baselines) {
    baseline.file_system = file_system;
    const auto same = [&](const BlockBaseline& other) {
      return other.file_system == baseline.file_system && other.pattern == baseline.pattern &&
             other.block_size == baseline.block_size && other.depth == baseline.depth;
    };
    if (std::ranges::none_of(result.baselines, same))
      result.baselines.push_back(std::move(baseline));
  }
}

}  // namespace filereel
