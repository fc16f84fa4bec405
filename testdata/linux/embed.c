/* A program that embeds a JVM (embed LIBJVM COUNT [JVM OPTION...]) and holds two kinds of blocks of 1000 bytes to which nothing but
   its own variables leads: a table among its zero-initialised variables, and a tree from a variable that has a first value. (Not a list: a
   word of anybody's that happens to look like the address of a block in its middle would lead to all behind it.)
   What it needs of jni.h is written out, since not every JDK brings that file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_MAX 8192
#define JNI_VERSION 0x00010008

struct option { char *text; void *extra; };
struct arguments { int version, count; struct option *options; unsigned char ignores_unknown; };

static char *volatile table[COUNT_MAX];
static void **volatile tree = (void **)table;

static char *block(void) {
  char *block = malloc(1000);
  if (block) memset(block, 0x5a, 1000);
  return block;
}

static void **grow(long count) {
  void **top = count ? (void **)block() : NULL;
  if (!top) return NULL;
  top[0] = grow((count - 1) / 2), top[1] = grow(count - 1 - (count - 1) / 2);
  return top;
}

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  long count = atol(argv[2]);
  if (count < 1 || COUNT_MAX < count) return 1;
  for (long i = 0; i < count; i++) {
    if (!(table[i] = block())) return 2;
  }
  if (!(tree = grow(count))) return 2;
  void *libjvm = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!libjvm) return fprintf(stderr, "%s\n", dlerror()), 3;
  int (*create)(void **, void **, void *) = (int (*)(void **, void **, void *))dlsym(libjvm, "JNI_CreateJavaVM");
  struct option options[16] = {0};
  struct arguments arguments = {JNI_VERSION, 0, options, 0};
  for (int i = 3; i < argc && arguments.count < 16; i++) options[arguments.count++].text = argv[i];
  void *vm, *env;
  if (!create || create(&vm, &env, &arguments) != 0) return 4;
  puts("ready");
  fflush(stdout);
  char end;
  return read(0, &end, 1) < 0;
}
