#include "replay/run/fio.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/packages.h"
#include "filesets/system/printable.h"
#include "filesets/system/process.h"
#include "replay/json.h"
#include "replay/parse_json.h"

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

}  // namespace filereel
