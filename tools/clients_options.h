// The options of several clients (--clients mpi).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/clients/clients.h"
#include "replay/run/plan.h"
#include "replay/volumes/target.h"

namespace filereel {

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
