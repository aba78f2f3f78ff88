// Traces of mysql-mix in memory, for tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/mysql/mysql_mix.h"

// A small table, and a pool that is too small for its words.
inline filereel::MysqlMixOptions small_mysql() {
  filereel::MysqlMixOptions options;
  options.transactions = 2'000;
  options.rows = 20'000;
  options.buffer_pool = 16 << 20;
  return options;
}

// The same with one kind of statement only.
inline filereel::MysqlMixOptions mysql_options(filereel::Statement only,
                                               std::uint64_t transactions = 2'000) {
  filereel::MysqlMixOptions options = small_mysql();
  options.transactions = transactions;
  options.shares = {};
  options.shares[static_cast<std::size_t>(only)] = filereel::MysqlMixOptions::kAllShares;
  return options;
}

// The shares of mysql-review.
inline filereel::MysqlMixOptions review_statements() {
  using enum filereel::Statement;
  filereel::MysqlMixOptions options = small_mysql();
  options.connections = 9;
  options.row_bytes = 24;
  options.shares = {};
  const auto share = [&](filereel::Statement statement, std::uint32_t percent) {
    options.shares[static_cast<std::size_t>(statement)] = percent * 1'000;
  };
  share(insert, 30);
  share(update_key, 20);
  share(delete_key, 10);
  share(select_key, 35);
  for (const filereel::Statement one :
       {update_like, delete_time, select_time, select_like, select_uid}) {
    share(one, 1);
  }
  return options;
}

struct MysqlTrace {
  explicit MysqlTrace(const filereel::MysqlMixOptions& options) : mix(options) { read(); }

  void read() {
    operations.clear();
    std::array<filereel::RecordedOperation, 256> part;
    while (const std::size_t got = mix.next(part)) {
      operations.insert(operations.end(), part.begin(), part.begin() + got);
    }
    names.assign(mix.info().slots, {});
    for (const filereel::RecordedOperation& operation : operations) {
      if (operation.operation.kind != filereel::OperationKind::open) continue;
      names[operation.operation.file] = mix.tables().paths.node(operation.operation.path).name;
    }
  }

  std::string_view name(const filereel::Operation& operation) const {
    return operation.file == filereel::kNoFile ? "" : std::string_view(names[operation.file]);
  }
  bool is(const filereel::Operation& operation, filereel::OperationKind kind,
          std::string_view file) const {
    return operation.kind == kind && name(operation) == file;
  }
  std::uint64_t count(filereel::OperationKind kind, std::string_view file) const {
    std::uint64_t found = 0;
    for (const filereel::RecordedOperation& operation : operations) {
      found += is(operation.operation, kind, file) ? 1 : 0;
    }
    return found;
  }
  // The doublewrite buffer lies in the system table space, where no pages are.
  bool is_doublewrite(const filereel::Operation& operation) const {
    return is(operation, filereel::OperationKind::write, "ibdata1") && operation.offset == 1 << 20;
  }
  bool is_page_write(const filereel::Operation& operation) const {
    return operation.kind == filereel::OperationKind::write && !is_doublewrite(operation) &&
           (name(operation) == "ibdata1" || name(operation).ends_with(".ibd"));
  }
  std::uint64_t page_writes() const {
    std::uint64_t found = 0;
    for (const filereel::RecordedOperation& operation : operations) {
      found += is_page_write(operation.operation) ? 1 : 0;
    }
    return found;
  }
  std::uint64_t commits() const { return std::stoull(mix.info().facts.at("commits")); }

  filereel::MysqlMix mix;
  std::vector<filereel::RecordedOperation> operations;
  std::vector<std::string> names;  // by slot
};
