#include "tools/observed_run.h"

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "filesets/error.h"
#include "replay/runner/result_json.h"
#include "tools/terminal_observer.h"

namespace filereel {

Result observe_run(Session& session, const std::string& json, const Measure& measure,
                   const Format& format) {
  Result result;
  std::optional<Error> failure;
  {
    TerminalObserver observer(session, json);
    try {
      if (!measure(observer, result)) session.exit_code = Session::kInterrupted;
    } catch (const Error& error) {
      const bool measured = std::ranges::any_of(
          result.measurements, [](const Measurement& one) { return !one.samples.empty(); });
      if (!measured) throw;
      failure = error;
    }
    observer.save(result);
  }
  const bool json_out = json == "-";
  const int table_to = json_out ? STDERR_FILENO : STDOUT_FILENO;
  const std::string table =
      format(result, [&](const std::string& text) { return session.bold(text, table_to); });
  if (json_out) {
    session.print(result_to_json(result));
    session.notice(table);
  } else {
    session.print(table);
  }
  if (failure) throw Error(*failure);
  if (session.exit_code == Session::kInterrupted) session.notice("filereel: interrupted");
  return result;
}

}  // namespace filereel
