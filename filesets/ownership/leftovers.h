// What killed runs left, from their leases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filesets/ownership/lease.h"

namespace filereel {

enum class LeaseState : std::uint8_t {
  in_use,   // by a running filereel
  kept,     // left on purpose; a later run may use it again
  left,     // by a run that was killed
  removed,  // by remove_leftovers
  gone,     // it is not there any more
  changed,  // what is there now is not what was made, or something else is in it
  unseen,   // its directory is not there now: a drive that is not connected
};

struct ListedLease {
  LeaseNote note;
  LeaseState state = LeaseState::left;
  std::string why = {};  // it could not be removed; "" for no reason
};

// All there are, by path. Changes nothing. Throws Error(failed) where there can be no state
// directory.
std::vector<ListedLease> list_leases();

// Removes all that killed runs left, and forgets what is gone or has changed since: that is
// somebody else's now. Returns what it found to do, by path; one by one, so that a failure with one
// (ListedLease::why) leaves the others. What cannot be seen or removed stays on the list.
std::vector<ListedLease> remove_leftovers();

}  // namespace filereel
