// What the clients of a run do together.
#pragma once

#include <optional>
#include <vector>

#include "replay/clients/clients.h"
#include "replay/run/measure.h"
#include "replay/run/plan.h"
#include "replay/run/run_request.h"

namespace filereel {

// The samples of all clients as one. The first client gets all of it, the others only what tells
// whether the step failed. `own`: nothing if this client has not worked. `start`: as it saw it. All
// clients must call it for the same step. Throws as Clients::meet.
StepSamples merge_of_all(Clients& clients, const std::optional<StepSamples>& own,
                         const StartFigures& start);

// Throws Error(usage) if the plan needs more clients.
void check_clients(const Clients& clients, const Plan& plan);

// Throws Error(failed) if a client has another plan: recipes and file sets are files of its own. It
// compares the texts of recipes and plans, settings, repetitions, and sizes of files and work. All
// clients must call it.
void check_same_plan(Clients& clients, const RunRequest& request);

// Describes the clients in a result: their number among the settings of jobs, and warnings about
// those that differ from the first. All clients must call it.
void note_clients(Clients& clients, const Plan& plan, Result& result);

// Adds the warnings that only other clients have to the result of the first one. All clients must
// call it.
void gather_warnings(Clients& clients, Result& result);

}  // namespace filereel
