#include "traces/workload/recipe_text.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "traces/workload/threads_reader.h"

namespace filereel {
namespace {

using WordList = std::vector<std::string>;

std::string joined(const WordList& words, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::string percent_of(double share) {
  return fmt::format("{:.6g} %", share * 100);
}
std::string time_of(std::uint64_t ns) {
  return format_duration(static_cast<double>(ns) * 1e-9);
}

std::string describe_files(const RecipeFiles& files) {
  WordList words;
  if (!files.set.empty()) {
    words.push_back("file set " + printable(files.set));
  } else {
    words.push_back(counted(files.count, "file", "files") +
                    (files.fill > 0 ? fmt::format(", {} of the free space", percent_of(files.fill))
                                    : " of " + format_binary_size(files.size)));
    if (files.limit > 0) words.push_back("at most " + format_binary_size(files.limit));
    if (files.compressed_permille < 1000) {
      words.push_back(fmt::format("compresses to {:.6g} %", files.compressed_permille / 10.0));
    }
    if (files.per_directory > 0)
      words.push_back(fmt::format("{} per directory", files.per_directory));
  }
  if (!files.exist) words.emplace_back("created by a phase");
  if (files.volumes != std::vector{Role::near}) {
    words.push_back("on " + (files.volumes.empty() ? "all volumes"
                                                   : joined(volume_names(files.volumes), " and ")));
  }
  return joined(words);
}

std::string describe_access(const AccessMix& mix) {
  WordList sizes;
  for (const SizeShare& size : mix.sizes) {
    const std::string share = mix.sizes.size() > 1 ? percent_of(as_share(size.share)) + " " : "";
    sizes.push_back(share + format_binary_size(size.size));
  }
  const auto mixed = [](std::uint32_t share, std::string_view all, std::string_view none,
                        std::string_view some) {
    if (share == 100'000) return std::string(all);
    return share == 0 ? std::string(none) : fmt::format("{} {}", percent_of(as_share(share)), some);
  };
  const std::string kind = mix.ratio > 0 ? fmt::format("{:.6g} {} per write", mix.ratio,
                                                       mix.ratio == 1 ? "read" : "reads")
                                         : mixed(mix.reads, "reads", "writes", "reads");
  WordList words = {fmt::format("{} of {}", kind, joined(sizes, " + ")),
                    mixed(mix.random, "random", "sequential", "random")};
  if (mix.align > 0) words.push_back("aligned to " + format_binary_size(mix.align));
  if (mix.zone_begin > 0 || mix.zone_end < 1) {
    words.push_back(
        fmt::format("zone {} to {}", percent_of(mix.zone_begin), percent_of(mix.zone_end)));
  }
  if (mix.disjoint) words.emplace_back("a separate range per thread");
  if (mix.hot.kind != HotSpots::Kind::uniform) words.push_back(hot_words(mix.hot));
  if (mix.truncate) words.emplace_back("files recreated");
  return joined(words);
}

std::string describe_step_of(const FileStep& step) {
  std::string text(step_word(step.kind));
  if (step.size > 0) text += " " + format_binary_size(step.size);
  if (moves_content(step.kind)) text += " by " + format_binary_size(step.block);
  if (step.sync != SyncKind::none) text += fmt::format(" with {}", sync_word(step.sync));
  return text;
}

std::string describe_choices(const std::vector<StepChoice>& choices) {
  WordList all;
  for (const StepChoice& choice : choices) {
    WordList steps;
    for (const FileStep& step : choice.steps) steps.push_back(describe_step_of(step));
    const std::string share = choices.size() > 1 ? percent_of(as_share(choice.share)) + " " : "";
    all.push_back(share + joined(steps));
  }
  return joined(all, "; ");
}

std::string describe_sync(const SyncPolicy& sync) {
  WordList when;
  if (sync.every > 0)
    when.push_back(sync.every == 1 ? "every access" : fmt::format("every {} accesses", sync.every));
  if (sync.at_end) when.emplace_back("at the end");
  return fmt::format("{} {}{}", sync_word(sync.kind), joined(when, " and "),
                     sync.all_files ? " of all files" : "");
}

std::string describe_threads(const RecipeThreads& threads, const Recipe& recipe) {
  WordList words = {threads.access ? describe_access(*threads.access)
                                   : describe_choices(threads.choices)};
  if (threads.order != FileOrder::given) {
    words.push_back(fmt::format("order {}", order_word(threads.order)));
  }
  if (threads.depth > 1) words.push_back(fmt::format("depth {}", threads.depth));
  if (threads.direct) words.emplace_back("direct");
  if (threads.write_through) words.emplace_back("write-through");
  if (threads.sync.every > 0 || threads.sync.at_end) words.push_back(describe_sync(threads.sync));
  if (threads.think_ns > 0) words.push_back("think " + time_of(threads.think_ns));
  if (threads.rate > 0) words.push_back(fmt::format("rate {}/s", threads.rate));
  const RecipeFiles& files = recipe.files[threads.files];
  return fmt::format("{} on {}{}: {}", counted(threads.count, "thread", "threads"),
                     printable(files.name), files.volumes.size() == 1 ? "" : " of each volume",
                     joined(words));
}

std::string describe_phase(const RecipePhase& phase) {
  WordList ends;
  if (phase.stop.time_ns > 0) ends.push_back(time_of(phase.stop.time_ns));
  if (phase.stop.operations > 0) {
    ends.push_back(counted(phase.stop.operations, "operation", "operations"));
  }
  if (phase.stop.bytes > 0) ends.push_back(format_binary_size(phase.stop.bytes));
  if (phase.stop.passes > 0) ends.push_back(counted(phase.stop.passes, "pass", "passes"));
  WordList words = {"ends after " + (ends.empty() ? "1 pass" : joined(ends, " or "))};
  if (phase.idle_ns > 0) words.push_back("after an idle time of " + time_of(phase.idle_ns));
  if (phase.warm_up_ns > 0) words.push_back("warm-up of " + time_of(phase.warm_up_ns));
  if (!phase.measured) words.emplace_back("not measured");
  if (phase.caches != Caches::cold) {
    words.push_back(fmt::format("caches {}", phase.caches == Caches::keep ? "kept" : "warm"));
  }
  if (phase.engine != RequestEngine::automatic) {
    words.push_back(fmt::format("engine {}", engine_word(phase.engine)));
  }
  if (phase.poll) words.emplace_back("polling");
  return fmt::format("{}: {}", printable(phase.name), joined(words));
}

std::string describe_statements(const MysqlMixOptions& server) {
  WordList words;
  for (std::size_t i = 0; i < kStatements; ++i) {
    if (server.shares[i] == 0) continue;
    words.push_back(fmt::format("{} {}", percent_of(as_share(server.shares[i])),
                                statement_name(static_cast<Statement>(i))));
  }
  return joined(words);
}

}  // namespace

std::string_view sync_word(SyncKind kind) {
  constexpr std::array<std::string_view, 3> kWords = {"none", "fsync", "fdatasync"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view order_word(FileOrder order) {
  constexpr std::array<std::string_view, 3> kWords = {"given", "shuffled", "random"};
  return kWords[static_cast<std::size_t>(order)];
}

std::string_view engine_word(RequestEngine engine) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "blocking", "io_uring"};
  return kWords[static_cast<std::size_t>(engine)];
}

std::string hot_words(const HotSpots& hot) {
  if (hot.kind == HotSpots::Kind::uniform) return "uniform";
  if (hot.kind == HotSpots::Kind::zipf) return fmt::format("zipf {:.6g}", hot.parameter);
  return "normal " + percent_of(hot.parameter);
}

std::vector<std::string> volume_names(const std::vector<Role>& volumes) {
  std::vector<std::string> names;
  for (const Role volume : volumes) names.emplace_back(role_name(volume));
  return names;
}

std::vector<std::string> file_lines(const Recipe& recipe) {
  std::vector<std::string> lines;
  for (const RecipeFiles& files : recipe.files) {
    lines.push_back(fmt::format("{}: {}", printable(files.name), describe_files(files)));
  }
  return lines;
}

std::vector<std::string> phase_lines(const Recipe& recipe) {
  std::vector<std::string> lines;
  for (const RecipePhase& phase : recipe.phases) {
    lines.push_back(describe_phase(phase));
    for (const RecipeThreads& threads : phase.threads) {
      lines.push_back("  " + describe_threads(threads, recipe));
    }
  }
  return lines;
}

std::vector<std::string> server_lines(const MysqlMixOptions& server) {
  const auto on_or_off = [](bool on) { return on ? "on" : "off"; };
  return {fmt::format("database server: {} by {}", counted(server.transactions, "transaction"),
                      counted(server.connections, "connection")),
          fmt::format("table of {} of {}", counted(server.rows, "row"),
                      counted(server.row_bytes, "byte")),
          "statements: " + describe_statements(server),
          fmt::format("buffer pool {}, flush_log_at_commit {}, sync_binlog {}, doublewrite {}",
                      format_binary_size(server.buffer_pool), server.flush_log_at_commit,
                      server.sync_binlog, on_or_off(server.doublewrite)),
          fmt::format("native_aio {}, full-text index {}, block {}", on_or_off(server.native_aio),
                      on_or_off(server.fulltext), format_binary_size(server.block))};
}

std::vector<std::string> recipe_lines(const Recipe& recipe) {
  if (recipe.mysql) return server_lines(*recipe.mysql);
  std::vector<std::string> lines = file_lines(recipe);
  for (std::string& line : phase_lines(recipe)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace filereel
