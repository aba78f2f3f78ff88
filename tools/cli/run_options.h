// Options of the commands that measure: parameters of jobs, sweeps, repetitions and clients.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/clients/clients.h"
#include "replay/jobs/job_options.h"
#include "replay/plan/plan.h"
#include "replay/results/result.h"
#include "replay/volumes/target.h"

namespace filereel {

// --- Options of the commands that measure: parameters of jobs, and volumes to format.

// The values of parameters as given, by job_parameters(); empty: not given.
using ParameterArguments = std::vector<std::vector<std::string>>;

// Adds a repeatable option that takes one value each time.
void add_repeated(CLI::App& command, const std::string& option, std::vector<std::string>& values,
                  const std::string& help);

// Adds the options of the parameters with these keys, of all without keys; `arguments` must outlive
// the command.
void add_parameter_options(CLI::App& command, ParameterArguments& arguments,
                           std::span<const std::string_view> keys = {});

// Parameters with values, for PlanOverrides.
std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given_parameters(
    const ParameterArguments& arguments);

struct FormatArguments {
  std::vector<std::string> file_systems, destroy;
};

// Adds --fs and --destroy to a command; `arguments` must outlive it.
void add_format_options(CLI::App& command, FormatArguments& arguments);

// These throw Error(usage).
std::vector<Target> parse_targets(const std::vector<std::string>& texts);
std::vector<Target> parse_devices(const std::vector<std::string>& texts);  // of --destroy

// Whether a run on these volumes mounts something, which needs privileges. Without volumes,
// filereel creates its own.
bool mounts_something(std::span<const Target> volumes);

// --- --runs, --precision and --budget of the commands that measure.

// As given on the command line; empty if not given.
struct RunsArguments {
  std::string runs, precision, budget;
};

// Adds the options to a command; `arguments` outlives it. `what` is the help of --runs.
void add_runs_options(CLI::App& command, RunsArguments& arguments, const std::string& what);

// Overrides `runs` and `automatic` by the given options. Throws Error(usage).
void apply_runs(const RunsArguments& arguments, std::optional<std::uint32_t>& runs,
                std::optional<AutoRuns>& automatic);

// --- Parser of the --sweep argument.

// "KEY=V1,V2…"; values may contain commas inside brackets.
struct SweepArgument {
  std::string key;
  std::vector<std::string> values;
};
SweepArgument parse_sweep(std::string_view text);  // throws Error(usage)

// --- The options of several clients (--clients mpi).

struct ClientsArguments {
  std::string server_memory, timeout, stagger;
  bool reel_per_client = false;
};

// Adds --server-memory, --client-timeout and --stagger; `arguments` must outlive the command.
void add_clients_options(CLI::App& command, ClientsArguments& arguments);

// Without --clients mpi: throws Error(usage) if one of them, or a parameter of jobs, is given.
// `parameters`: by job_parameters(), see RunArguments.
void refuse_clients_options(const ClientsArguments& arguments,
                            const std::vector<std::vector<std::string>>& parameters);

// Throws Error(usage) for invalid values.
ClientsOptions read_clients_options(const ClientsArguments& arguments);

// The scale at which the files of each job, of all clients together, are at least twice as large as
// --server-memory; nothing if it is not given, or the plan needs no larger scale. Throws
// Error(usage) for an invalid size, and if no job can be scaled.
std::optional<double> scale_for_server(const ClientsArguments& arguments, const Plan& plan,
                                       std::uint32_t clients);

// Throws Error(usage) unless clients can work on the volumes: directories that all can see.
// `volumes`: those named; empty: none.
void check_for_clients(const std::vector<Target>& volumes);

}  // namespace filereel
