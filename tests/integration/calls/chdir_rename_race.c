// A thread changes the working directory while another one renames files by relative names. Nothing
// that a rename returns says where that was, but only one folder had the file. (Where it goes does
// not depend on the working directory: the kernel looks that up at another moment.)
#include <pthread.h>

#include "check.h"

enum { kFolders = 2, kRounds = 150 };

static int folders[kFolders], kept;

static void* change(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds * 4; ++i) MUST(fchdir(folders[i % kFolders]));
  return NULL;
}

static void* make(void* unused) {
  (void)unused;
  char name[32], moved[40];
  for (int i = 0; i < kRounds; ++i) {
    snprintf(name, sizeof name, "file %d", i);
    snprintf(moved, sizeof moved, "moved %d", i);
    make_file(name, (size_t)i);
    // It is found, or the working directory is another one by now.
    if (renameat(AT_FDCWD, name, kept, moved) != 0) CHECK(errno == ENOENT);
  }
  return NULL;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  char name[32];
  for (int i = 0; i < kFolders; ++i) {
    snprintf(name, sizeof name, "%d", i);
    MUST(mkdir(name, 0755));
    folders[i] = open_file(name, O_RDONLY | O_DIRECTORY);
  }
  MUST(mkdir("kept", 0755));
  kept = open_file("kept", O_RDONLY | O_DIRECTORY);
  MUST(chdir("0"));
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, make, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, change, NULL) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
