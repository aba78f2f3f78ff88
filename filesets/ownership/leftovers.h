// Leftovers of killed runs, known from their leases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"

namespace filereel {

enum class LeaseState : std::uint8_t {
  in_use,   // by a running filereel
  kept,     // on purpose; a later run may reuse it
  left,     // by a killed run
  removed,  // by remove_leftovers
  gone,     // proven to exist no longer
  changed,  // replaced, or contains something else
  unseen,   // parent directory missing or another one, such as on a disconnected drive
  hung,     // on a share that does not respond
};

struct ListedLease {
  LeaseRecord note;
  LeaseState state = LeaseState::left;
  std::string why = {};    // why it could not be looked at or removed, or ""
  std::string share = {};  // hung: the mount point
};

// list_leases and remove_leftovers wait at most two seconds for each network or FUSE mount that
// does not respond.

// Returns all leases, by path. Changes nothing. Throws Error(failed) if there is no state
// directory.
std::vector<ListedLease> list_leases();

// Removes all leftovers of killed runs. Forgets objects that are gone or have changed, because they
// belong to someone else now. Returns what was found, by path. A failure with one object
// (ListedLease::why) does not affect the others. Objects that cannot be seen or removed stay on the
// list.
std::vector<ListedLease> remove_leftovers();

// --- Removes leftovers even if this process is killed.

// A process that waits for the end of this one. If the destructor did not run, it removes the
// leftovers of killed runs. It survives signals to the process group: mpirun kills all processes of
// a run if one of them dies. Create it before there are threads.
class Janitor {
 public:
  Janitor();   // without a process, leftovers wait for the next run
  ~Janitor();  // sends it away
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

 private:
  Descriptor pipe_;
};

}  // namespace filereel
