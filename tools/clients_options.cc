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

void add_clients_options(CLI::App& command, ClientsArguments& arguments) {
  command.add_flag("--reel-per-client", arguments.reel_per_client,
                   "With --clients mpi: distribute the reels over the clients");
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
  const std::string_view fixed =
      inapplicable_reason(*find_job_parameter("scale"), JobKind::trace, true);
  double scale = 1;
  bool any = false, larger = false;
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    Result unused;
    const auto fitted = job->fit(0, {.volumes = {}, .free_bytes = 0, .result = unused});
    const FileSet* const files = fitted->contents(Role::near).largest;
    if (!job->scales() || !files) continue;
    const JobOptions options = job->options(0);
    const double bytes = static_cast<double>(files->totals().bytes) * (options.share ? 1 : clients);
    any = any || bytes > 0;
    if (bytes <= 0 || bytes >= wanted) continue;
    constexpr double kRounding = 1.01;  // of numbers of files
    larger = true;
    scale = std::max(scale, options.scale * wanted / bytes * kRounding);
  }
  if (!any) {
    throw Error(ErrorKind::usage, fmt::format("--server-memory does not apply to {}: {}",
                                              printable(plan.name), fixed));
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
