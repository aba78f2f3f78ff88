// Runs work in a child process, because a call on a volume that does not respond may never return:
// a thread or process in such a call cannot be ended, not even by SIGKILL, but a child can be left
// behind.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace filereel {

// The text that `work` returns in a child process, which has no files open and so holds no locks.
// Nothing if it throws, or takes longer than `patience_s`: the child is then killed, which takes
// effect when its call returns. `waits_on` is asked each time the patience ends, and gives more of
// it by true. If no process can be started, the work is done in this one.
std::optional<std::string> run_apart(const std::function<std::string()>& work, double patience_s,
                                     const std::function<bool()>& waits_on = {});

}  // namespace filereel
