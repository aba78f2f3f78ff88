#include "tools/cli/run_options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/jobs/job_options.h"
#include "replay/plan/precision.h"

namespace filereel {

void add_repeated(CLI::App& command, const std::string& option, std::vector<std::string>& values,
                  const std::string& help) {
  command.add_option(option, values, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_parameter_options(CLI::App& command, ParameterArguments& arguments,
                           std::span<const std::string_view> keys) {
  arguments.resize(job_parameters().size());
  for (std::size_t i = 0; i < job_parameters().size(); ++i) {
    const JobParameter& parameter = job_parameters()[i];
    if (!keys.empty() && !contains(keys, parameter.key)) continue;
    std::vector<std::string>& values = arguments[i];
    const std::string option(parameter.option), help(parameter.help);
    switch (parameter.form) {
      case JobParameter::Form::value:
        command.add_option(option, values, help)
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        break;
      case JobParameter::Form::list:
        command.add_option(option, values, help)->delimiter(',');
        break;
      case JobParameter::Form::repeated:
        add_repeated(command, option, values, help);
        break;
      case JobParameter::Form::flag:
        command.add_flag_callback(option, [&values] { values = {"true"}; }, help);
        break;
    }
  }
}

std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given_parameters(
    const ParameterArguments& arguments) {
  std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].empty()) given.emplace_back(&job_parameters()[i], arguments[i]);
  }
  return given;
}

void add_format_options(CLI::App& command, FormatArguments& arguments) {
  command.add_option("--fs", arguments.file_systems, "File systems to create, such as ext4,ntfs")
      ->delimiter(',');
  command.add_option("--destroy", arguments.destroy,
                     "Block device or part to format; all data on it is lost");
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) targets.push_back(parse_target(text));
  return targets;
}

std::vector<Target> parse_devices(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    try {
      targets.push_back(parse_device(text));
    } catch (const Error& error) {
      throw Error(ErrorKind::usage, fmt::format("--destroy {}", error.what()));
    }
  }
  return targets;
}

bool mounts_something(std::span<const Target> volumes) {
  return volumes.empty() || std::ranges::any_of(volumes, [](const Target& target) {
           return target.kind != TargetKind::directory;
         });
}

namespace {

std::uint32_t run_count(const std::string& text) {
  if (const auto count = parse_number_in<std::uint32_t>(text, 1, kMostRuns)) return *count;
  throw Error(ErrorKind::usage,
              fmt::format("--runs {}: must be auto or a number from 1 to {}", text, kMostRuns));
}

double parse_budget(const std::string& text) {
  const std::uint64_t time = parse_duration(text, "--budget", ErrorKind::usage);
  if (time == 0) throw Error(ErrorKind::usage, "--budget must be more than 0");
  return static_cast<double>(time) * 1e-9;
}

}  // namespace

void add_runs_options(CLI::App& command, RunsArguments& arguments, const std::string& what) {
  command.add_option("--runs", arguments.runs, what + "; auto: until all intervals are narrow");
  command.add_option(
      "--precision", arguments.precision,
      "With --runs auto: target width of 95 % intervals, of rates (5%) and of a tail (p99.9=10%)");
  command.add_option("--budget", arguments.budget, "With --runs auto: time limit (30min)");
}

void apply_runs(const RunsArguments& arguments, std::optional<std::uint32_t>& runs,
                std::optional<AutoRuns>& automatic) {
  if (arguments.runs == "auto") {
    if (!automatic) automatic.emplace();
  } else if (!arguments.runs.empty()) {
    runs = run_count(arguments.runs);
    automatic.reset();
  }
  const auto check = [&](const std::string& text, std::string_view option) {
    if (text.empty() || automatic) return;
    throw Error(ErrorKind::usage, fmt::format("{} needs --runs auto", option));
  };
  check(arguments.precision, "--precision");
  check(arguments.budget, "--budget");
  if (!arguments.precision.empty()) {
    const std::string wrong = read_precision(arguments.precision, *automatic);
    if (!wrong.empty()) {
      throw Error(ErrorKind::usage, fmt::format("--precision {}: {}", arguments.precision, wrong));
    }
  }
  if (!arguments.budget.empty()) automatic->budget_s = parse_budget(arguments.budget);
}

SweepArgument parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  SweepArgument sweep{std::string(text.substr(0, equals)), {}};
  std::string value;
  const auto add = [&] {
    const std::size_t begin = value.find_first_not_of(' ');
    const std::size_t end = value.find_last_not_of(' ') + 1;
    sweep.values.push_back(begin == std::string::npos ? "" : value.substr(begin, end - begin));
    value.clear();
  };
  if (equals != std::string_view::npos) {
    int depth = 0;
    for (const char c : text.substr(equals + 1)) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == ',' && depth == 0) {
        add();
      } else {
        value += c;
      }
    }
    add();
  }
  const bool empty = std::ranges::any_of(sweep.values, &std::string::empty);
  if (!sweep.key.empty() && !sweep.values.empty() && !empty) return sweep;
  throw Error(ErrorKind::usage,
              fmt::format("--sweep {}: expected a key and its values, such as depth=1,4,16", text));
}

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
  for (const Target& volume : volumes) {
    if (volume.kind == TargetKind::directory) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--clients mpi does not apply to {}: it needs a directory that all "
                            "clients see",
                            printable(volume.text())));
  }
}

}  // namespace filereel
