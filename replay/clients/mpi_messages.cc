// The MPI module: messages between the processes of mpirun or srun. Any MPI of version 3 or later.
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <mpi.h>
#include <time.h>

#include "filesets/system/error.h"
#include "replay/clients/messages.h"

namespace filereel {
namespace {

constexpr int kTag = 1;

void check(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  int kind = 0;
  MPI_Error_class(code, &kind);
  throw_failed(
      fmt::format("MPI cannot {} (error class {}); see the messages of mpirun, and check "
                  "that all hosts run and reach one another",
                  what, kind));
}

class MpiMessages final : public Messages {
 public:
  MpiMessages() {
    int provided = 0;
    // Other threads exist, but only this one uses MPI.
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "start");
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &count_);
  }

  std::uint32_t rank() const override { return static_cast<std::uint32_t>(rank_); }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(count_); }

  void send(std::uint32_t to, std::string body) override {
    drop_sent();
    if (body.size() > INT_MAX) throw_failed("MPI cannot send more than 2 GiB to another client");
    Sent& sent = sent_.emplace_back(Sent{std::move(body), MPI_REQUEST_NULL});
    // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): drop_sent tests it
    check(MPI_Isend(sent.body.data(), static_cast<int>(sent.body.size()), MPI_BYTE,
                    static_cast<int>(to), kTag, all_, &sent.request),
          "send");
    // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
  }

  std::optional<Message> receive() override {
    drop_sent();
    int arrived = 0;
    MPI_Message message{};
    MPI_Status status{};
    check(MPI_Improbe(MPI_ANY_SOURCE, kTag, all_, &arrived, &message, &status), "receive");
    if (arrived == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message got{static_cast<std::uint32_t>(status.MPI_SOURCE),
                std::string(static_cast<std::size_t>(size), '\0')};
    check(MPI_Mrecv(got.body.data(), size, MPI_BYTE, &message, &status), "receive");
    return got;
  }

  void end() override {
    MPI_Request everyone = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(all_, &everyone), "end");
    // MPI's own waiting would occupy a processor that another process may need.
    for (int done = 0; done == 0;) {
      check(MPI_Test(&everyone, &done, MPI_STATUS_IGNORE), "end");
      constexpr timespec kPause{0, 200'000};
      if (done == 0) nanosleep(&kPause, nullptr);
    }
    MPI_Comm_free(&all_);
    MPI_Finalize();
  }

  [[noreturn]] void abort() override {
    MPI_Abort(all_, 1);
    std::_Exit(1);
  }

 private:
  struct Sent {
    std::string body;
    MPI_Request request;
  };

  void drop_sent() {
    sent_.remove_if([](Sent& sent) {
      int done = 0;
      check(MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE), "send");
      return done != 0;
    });
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0, count_ = 1;
  std::list<Sent> sent_;  // in place: MPI reads the bodies
};

}  // namespace
}  // namespace filereel

extern "C" __attribute__((visibility("default"))) filereel::Messages* filereel_start_mpi() {
  return new filereel::MpiMessages();
}
