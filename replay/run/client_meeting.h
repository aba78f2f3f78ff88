// What the clients of a run do together.
#pragma once

#include "replay/clients/clients.h"
#include "replay/run/measure.h"

namespace filereel {

// The samples of all clients as one, at every client. `start`: as this client saw it. All clients
// must call it for the same step. Throws as Clients::meet.
StepSamples merge_of_all(Clients& clients, const StepSamples& own, const StartFigures& start);

// Warnings about clients that differ from the first; at every client.
std::vector<Warning> compare_clients(Clients& clients);

}  // namespace filereel
