/* Native methods of Growing.java. */
#include <stdlib.h>
#include <string.h>

/* The number of `NewGlobalRef` among the functions of JNI, in all releases. */
enum { NEW_GLOBAL_REF = 21, BLOCKS_MAX = 4096 };
typedef void *new_global_ref(void *env, void *object);

static void *volatile last;

void Java_Growing_leak(void *env, void *class, int bytes) {
  (void)env, (void)class;
  void **block = malloc(bytes);
  if (!block) return;
  memset(block, 7, bytes);
  *block = last, last = block;
}

void Java_Growing_keep(void *env, void *class, void *object) {
  (void)class;
  ((new_global_ref *)(*(void ***)env)[NEW_GLOBAL_REF])(env, object);
}

void Java_Growing_churn(void *env, void *class, int blocks, int bytes) {
  (void)env, (void)class;
  static void *volatile kept;
  void *all[BLOCKS_MAX];
  if (BLOCKS_MAX < blocks) blocks = BLOCKS_MAX;
  for (int i = 0; i < blocks; i++) {
    all[i] = malloc(bytes);
    if (all[i]) memset(all[i], 7, bytes);
    kept = malloc(40);
  }
  for (int i = 0; i < blocks; i++) free(all[i]);
}
