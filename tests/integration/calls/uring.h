// io_uring for the programs of this folder.
#pragma once

#include <liburing.h>

#include "check.h"

static inline void ring_must(int result) {
  if (result < 0) errno = -result;
  CHECK(result >= 0);
}

static inline struct io_uring_sqe* next_request(struct io_uring* ring) {
  struct io_uring_sqe* request = io_uring_get_sqe(ring);
  CHECK(request != NULL);
  return request;
}

// One request alone; its result.
static inline int ring_do(struct io_uring* ring) {
  ring_must(io_uring_submit_and_wait(ring, 1));
  struct io_uring_cqe* done;
  ring_must(io_uring_wait_cqe(ring, &done));
  const int result = done->res;
  io_uring_cqe_seen(ring, done);
  return result;
}

// Submits all and waits for them; their results, by the numbers that the requests carry.
static inline void ring_do_all(struct io_uring* ring, unsigned count, int* results) {
  const int submitted = io_uring_submit(ring);
  ring_must(submitted);
  // A thread of the kernel's may have taken some already, which are not counted then.
  CHECK(submitted == (int)count || (ring->flags & IORING_SETUP_SQPOLL));
  for (unsigned i = 0; i < count; ++i) {
    struct io_uring_cqe* done;
    ring_must(io_uring_wait_cqe(ring, &done));
    CHECK(done->user_data < count);
    results[done->user_data] = done->res;
    io_uring_cqe_seen(ring, done);
  }
}
