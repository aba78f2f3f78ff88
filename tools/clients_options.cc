#include "tools/clients_options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/run/job_options.h"

namespace filereel {
namespace {

// Of all points of a job; `all`: those of the run.
std::uint32_t fewest_clients(const Job& job, std::uint32_t all) {
  std::uint32_t fewest = all;
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    if (const std::uint32_t here = job.clients(point); here > 0) fewest = std::min(fewest, here);
  }
  return fewest;
}

}  // namespace

void add_clients_options(CLI::App& command, ClientsArguments& arguments) {
  command.add_option("--server-memory", arguments.server_memory,
                     "With --clients mpi: scale the files to twice the memory of the server");
  command.add_option("--client-timeout", arguments.timeout,
                     "With --clients mpi: end if a client does not answer for this long (60s)");
  command.add_option("--stagger", arguments.stagger,
                     "With --clients mpi: start each client this much after the one before (0s)");
}

void refuse_clients_options(const ClientsArguments& arguments,
                            const std::vector<std::vector<std::string>>& parameters) {
  const auto refuse = [](bool given, std::string_view option) {
    if (!given) return;
    throw Error(ErrorKind::usage, fmt::format("{} needs --clients mpi", option));
  };
  refuse(!arguments.server_memory.empty(), "--server-memory");
  refuse(!arguments.timeout.empty(), "--client-timeout");
  refuse(!arguments.stagger.empty(), "--stagger");
  refuse(arguments.reel_per_client, "--reel-per-client");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const JobParameter& parameter = job_parameters()[i];
    const bool needs = parameter.key == "share" || parameter.key == "shift";
    refuse(needs && !parameters[i].empty(), parameter.option);
  }
}

ClientsOptions read_clients_options(const ClientsArguments& arguments) {
  ClientsOptions options;
  const auto read = [](const std::string& text, const char* option, std::uint64_t& time_ns) {
    if (!text.empty()) time_ns = parse_duration(text, option, ErrorKind::usage);
  };
  read(arguments.timeout, "--client-timeout", options.timeout_ns);
  read(arguments.stagger, "--stagger", options.stagger_ns);
  constexpr std::uint64_t kLeastTimeout = 1'000'000'000;
  if (options.timeout_ns < kLeastTimeout) {
    throw Error(ErrorKind::usage, "--client-timeout must be at least 1s");
  }
  return options;
}

std::optional<double> scale_for_server(const ClientsArguments& arguments, const Plan& plan,
                                       std::uint32_t clients) {
  if (arguments.server_memory.empty()) return std::nullopt;
  const double wanted = 2 * static_cast<double>(parse_size(arguments.server_memory,
                                                           "--server-memory", ErrorKind::usage));
  double scale = 0;
  bool any = false, larger = false;
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    Result unused;
    const auto fitted = job->fit(0, {.volumes = {}, .free_bytes = 0, .result = unused});
    const FileSet* const files = fitted->contents(Role::near).largest;
    if (!job->scales() || !files) continue;
    const JobOptions options = job->options(0);
    const std::uint32_t trees = options.share ? 1 : fewest_clients(*job, clients);
    const double bytes = static_cast<double>(files->totals().bytes) * trees;
    if (bytes <= 0) continue;
    constexpr double kRounding = 1.01;  // of numbers of files
    const bool small = bytes < wanted;
    any = true;
    larger = larger || small;
    // One scale for all: the others must not become smaller.
    scale = std::max(scale, options.scale * (small ? wanted / bytes * kRounding : 1));
  }
  if (!any) {
    throw Error(ErrorKind::usage,
                fmt::format("--server-memory does not apply to {}: its files are recorded, or fill "
                            "the volume",
                            printable(plan.name)));
  }
  return larger ? std::optional(scale) : std::nullopt;
}

void check_for_clients(const std::vector<Target>& volumes) {
  if (volumes.empty()) {
    throw Error(ErrorKind::usage, "--clients mpi needs --near: a directory that all clients see");
  }
  for (const Target& one : volumes) {
    if (one.kind == TargetKind::directory) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--clients mpi does not apply to {}: it needs a directory that all "
                            "clients see",
                            printable(one.text())));
  }
}

}  // namespace filereel
