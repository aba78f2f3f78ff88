// Threads that share a working directory change it under each other's feet while all make files by
// relative names: which folder a file lands in is known only to the kernel. Others use dirfds,
// which no chdir can move, and one thread has a working directory of its own.
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { kFolders = 3, kRounds = 150 };

static int folders[kFolders];
static int top;

static void* change(void* unused) {
  (void)unused;
  char name[32];
  for (int i = 0; i < kRounds * 4; ++i) {
    if (i % 2 == 0) {
      MUST(fchdir(folders[i / 2 % kFolders]));
    } else {
      snprintf(name, sizeof name, "../folder %d", i % kFolders);
      MUST(chdir(name));
    }
  }
  return NULL;
}

static void* make(void* argument) {
  const char mark = *(const char*)argument;
  char name[32];
  for (int i = 0; i < kRounds; ++i) {
    snprintf(name, sizeof name, "%c %d", mark, i);
    const int fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
    write_some(fd, 0, (size_t)i);
    MUST(close(fd));
  }
  return NULL;
}

static void* make_at(void* unused) {
  (void)unused;
  char name[32];
  for (int i = 0; i < kRounds; ++i) {
    snprintf(name, sizeof name, "at %d", i);
    MUST(close((int)MUST(openat(folders[i % kFolders], name, O_WRONLY | O_CREAT | O_EXCL, 0644))));
    MUST(mkdirat(top, name, 0755));
  }
  return NULL;
}

static void* stay(void* unused) {
  (void)unused;
  MUST(unshare(CLONE_FS));
  MUST(fchdir(top));
  MUST(chdir("own"));
  char name[32];
  for (int i = 0; i < kRounds; ++i) {
    snprintf(name, sizeof name, "own %d", i);
    make_file(name, (size_t)i);
  }
  return NULL;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  char name[32];
  top = open_file(".", O_RDONLY | O_DIRECTORY);
  MUST(mkdir("own", 0755));
  for (int i = 0; i < kFolders; ++i) {
    snprintf(name, sizeof name, "folder %d", i);
    MUST(mkdir(name, 0755));
    folders[i] = open_file(name, O_RDONLY | O_DIRECTORY);
  }
  MUST(chdir("folder 0"));
  char marks[] = {'a', 'b'};
  pthread_t threads[5];
  CHECK(pthread_create(&threads[0], NULL, make, &marks[0]) == 0);
  CHECK(pthread_create(&threads[1], NULL, make, &marks[1]) == 0);
  CHECK(pthread_create(&threads[2], NULL, change, NULL) == 0);
  CHECK(pthread_create(&threads[3], NULL, make_at, NULL) == 0);
  CHECK(pthread_create(&threads[4], NULL, stay, NULL) == 0);
  for (int i = 0; i < 5; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
