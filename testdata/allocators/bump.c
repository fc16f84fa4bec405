/* A malloc that cannot be told apart from outside, to be preloaded under the name of one: blocks lie one behind the other in
   mappings of 32 MiB, without heads that any known allocator has, and nothing is ever given back. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;

/* The size of each block stands behind it, so that what is before a block says nothing. */
static void *take(size_t bytes, size_t alignment) {
  size_t room = (bytes + 15) / 16 * 16 + 16;
  pthread_mutex_lock(&lock);
  char *at = (char *)(((uintptr_t)next + 8 + alignment - 1) / alignment * alignment);
  if (!next || at + room > end) {
    size_t all = (room + alignment + (32 << 20)) & ~(size_t)4095;
    char *fresh = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
      pthread_mutex_unlock(&lock);
      errno = ENOMEM;
      return NULL;
    }
    end = fresh + all;
    at = (char *)(((uintptr_t)fresh + 8 + alignment - 1) / alignment * alignment);
  }
  next = at + room;
  pthread_mutex_unlock(&lock);
  ((size_t *)at)[-1] = bytes;
  return at;
}

void *malloc(size_t bytes) { return take(bytes, 16); }
void free(void *block) { (void)block; }
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-1] : 0; }

void *calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) return NULL;
  return take(all, 16);
}

void *realloc(void *block, size_t bytes) {
  void *fresh = take(bytes, 16);
  size_t old = malloc_usable_size(block);
  if (fresh && block) memcpy(fresh, block, old < bytes ? old : bytes);
  return fresh;
}

void *memalign(size_t alignment, size_t bytes) { return take(bytes, alignment < 16 ? 16 : alignment); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
