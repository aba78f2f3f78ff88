// Makes the reel of a mysql-mix.
//   make_mysql_reel [NAME=VALUE…] FILE
// Names are those of the options in mysql_mix.h; shares are given by statement, in percent:
// insert=20 update-key=80.
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "traces/mysql/mysql_mix.h"
#include "traces/reel/reel_writer.h"

namespace filereel {
namespace {

void set(MysqlMixOptions& options, const std::string& name, double number) {
  MysqlTiming& timing = options.timing;
  const std::map<std::string_view, std::variant<bool*, std::uint32_t*, std::uint64_t*>> known = {
      {"connections", &options.connections},
      {"transactions", &options.transactions},
      {"rows", &options.rows},
      {"row_bytes", &options.row_bytes},
      {"buffer_pool", &options.buffer_pool},
      {"flush_log_at_commit", &options.flush_log_at_commit},
      {"sync_binlog", &options.sync_binlog},
      {"doublewrite", &options.doublewrite},
      {"native_aio", &options.native_aio},
      {"fulltext", &options.fulltext},
      {"block", &options.block},
      {"seed", &options.seed},
      {"statement", &timing.statement},
      {"redo_write", &timing.redo_write},
      {"redo_sync", &timing.redo_sync},
      {"binlog_write", &timing.binlog_write},
      {"binlog_sync", &timing.binlog_sync},
      {"page_read", &timing.page_read},
      {"page_write", &timing.page_write},
      {"data_sync", &timing.data_sync},
      {"doublewrite_time", &timing.doublewrite},
      {"scanned_row", &timing.scanned_row},
      {"locked_row", &timing.locked_row},
      {"word", &timing.word}};
  const auto found = known.find(name);
  if (found == known.end()) throw std::invalid_argument("there is no option " + name);
  std::visit(
      [number](auto* option) { *option = static_cast<std::decay_t<decltype(*option)>>(number); },
      found->second);
}

// The statement of that name, or kStatements.
std::size_t statement_of(std::string_view name) {
  std::size_t i = 0;
  while (i < kStatements && statement_name(static_cast<Statement>(i)) != name) ++i;
  return i;
}

MysqlMixOptions options_of(std::span<char* const> arguments) {
  MysqlMixOptions options;
  std::array<std::uint32_t, kStatements> shares{};
  for (const std::string argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(argument + ": give NAME=VALUE");
    const std::string name = argument.substr(0, equals);
    const double number = std::stod(argument.substr(equals + 1));
    if (const std::size_t statement = statement_of(name); statement < kStatements) {
      shares[statement] = static_cast<std::uint32_t>(number * 1000 + 0.5);
      options.shares = shares;
    } else {
      set(options, name, number);
    }
  }
  return options;
}

void make(std::span<char* const> arguments, const std::string& path) {
  MysqlMix mix(options_of(arguments));
  ReelWriter writer(path, mix.tables(), {});
  std::array<RecordedOperation, 1024> operations;
  while (const std::size_t got = mix.next(operations)) {
    for (std::size_t i = 0; i < got; ++i) writer.add(operations[i]);
  }
  writer.finish(mix.info(), mix.trees());
}

}  // namespace
}  // namespace filereel

int main(int count, char** arguments) {
  try {
    if (count < 2) return 2;
    const std::span<char* const> all(arguments, static_cast<std::size_t>(count));
    filereel::make(all.subspan(1, all.size() - 2), all.back());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_mysql_reel: %s\n", error.what());
    return 1;
  }
}
