/* A program that makes itself hard to read: `hostile KIND`. It says "ready" and then does what its kind says until its
   standard input ends or it is killed. Kinds: mappings, threads, churn, forks, execs, exits, recorded, list, lost, written. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say_ready(long number) {
  printf("ready %ld\n", number);
  fflush(stdout);
}

static void wait_for_end(void) {
  char byte;
  while (read(0, &byte, 1) > 0) {}
}

/* As many mappings as the kernel allows, each of one touched page: neighbours of unlike protection are not joined. */
static long map_many(void) {
  long page = sysconf(_SC_PAGESIZE), count = 0;
  while (count < 65000) {
    char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) break;
    *at = 1;
    if (count % 2 == 0 && mprotect(at, page, PROT_READ) != 0) break;
    count++;
  }
  return count;
}

static void *sleep_forever(void *unused) {
  (void)unused;
  for (;;) pause();
  return NULL;
}

static long start_threads(long wanted) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  long started = 0;
  pthread_t thread;
  while (started < wanted && pthread_create(&thread, &attributes, sleep_forever, NULL) == 0) started++;
  return started;
}

/* Blocks of all sizes come and go, in four threads, and mappings with them. */
static void *churn(void *seed) {
  enum { SLOTS = 4096 };
  char **slots = calloc(SLOTS, sizeof *slots);
  if (!slots) return NULL;
  uint64_t random = (uint64_t)(uintptr_t)seed * 2654435761u + 1;
  for (;;) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    char **slot = &slots[random % SLOTS];
    free(*slot);
    size_t bytes = random >> 32 & 63 ? random >> 20 & 2047 : random >> 20 & 524287;
    *slot = malloc(bytes + 1);
    if (*slot) memset(*slot, 7, bytes + 1);
    if ((random >> 40 & 1023) == 0) {
      char *mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped != MAP_FAILED) memset(mapped, 1, 1 << 16), munmap(mapped, 1 << 20);
    }
  }
  return NULL;
}

static void record_me(void) {
  /* Blocks that point at each other, freed ones between them, and a text. */
  static void *roots[64];
  for (int i = 0; i < 64; i++) {
    void **node = malloc(64 + 16 * i);
    node[0] = i ? roots[i - 1] : NULL;
    strcpy((char *)(node + 1), "a block of the recorded program");
    roots[i] = node;
    free(malloc(100 + 24 * i));
  }
}

/* A list that grows at its front: only the program's own variable leads to it, and each block to the one before. */
static void **volatile list;
static volatile long list_blocks;

static void *grow_list(void *unused) {
  (void)unused;
  for (;;) {
    for (int i = 0; i < 20; i++) {
      void **node = malloc(1000);
      if (!node) return NULL;
      memset(node, 0x5a, 1000);
      node[0] = list;
      list = node;
      list_blocks++;
    }
    usleep(1000);
  }
}

/* Two mappings next to each other, which the kernel makes one: this one is held, the one before it nobody knows any more. */
static char *volatile held;

static long lose_mapping(long bytes) {
  char *both = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (both == MAP_FAILED) return 0;
  memset(both, 0x5a, 2 * bytes);
  held = both + bytes;
  return bytes;
}

/* Maps a file for itself alone, reads all of it, and writes to the pages of its first half. */
static long write_half(const char *path) {
  int file = open(path, O_RDONLY);
  long bytes = lseek(file, 0, SEEK_END), page = sysconf(_SC_PAGESIZE);
  volatile char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (at == MAP_FAILED) return 0;
  for (long i = 0; i < bytes; i += page) {
    if (i < bytes / 2) at[i] = 1;
    else (void)at[i];
  }
  close(file);
  return bytes / 2;
}

int main(int arguments, char **argument) {
  const char *kind = 1 < arguments ? argument[1] : "";
  if (!strcmp(kind, "mappings")) {
    say_ready(map_many());
    wait_for_end();
  } else if (!strcmp(kind, "threads")) {
    say_ready(start_threads(10000));
    wait_for_end();
  } else if (!strcmp(kind, "churn")) {
    pthread_t thread;
    for (long i = 1; i <= 4; i++) pthread_create(&thread, NULL, churn, (void *)i);
    say_ready(4);
    wait_for_end();
  } else if (!strcmp(kind, "written")) {
    say_ready(write_half(2 < arguments ? argument[2] : ""));
    wait_for_end();
  } else if (!strcmp(kind, "forks")) {
    say_ready(0);
    for (;;) {
      pid_t child = fork();
      if (child == 0) _exit(0);
      if (0 < child) waitpid(child, NULL, 0);
    }
  } else if (!strcmp(kind, "execs")) {
    /* Again and again the same program, with its count. */
    long count = 2 < arguments ? atol(argument[2]) : 0;
    char next[32];
    if (count == 0) say_ready(0);
    snprintf(next, sizeof next, "%ld", count + 1);
    usleep(count % 7 * 500);
    execl("/proc/self/exe", "hostile", "execs", next, NULL);
  } else if (!strcmp(kind, "exits")) {
    /* After so many microseconds. */
    char *all = malloc(32 << 20);
    if (all) memset(all, 3, 32 << 20);
    say_ready(0);
    usleep(2 < arguments ? atol(argument[2]) : 0);
  } else if (!strcmp(kind, "list")) {
    pthread_t thread;
    pthread_create(&thread, NULL, grow_list, NULL);
    while (list_blocks < 2000) usleep(1000);
    say_ready(0);
    wait_for_end();
  } else if (!strcmp(kind, "lost")) {
    say_ready(lose_mapping(8 << 20));
    wait_for_end();
  } else if (!strcmp(kind, "recorded")) {
    record_me();
    say_ready(0);
    wait_for_end();
  }
  return 0;
}
