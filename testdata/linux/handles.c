/* Native methods of Buffering.java. The first: memory of many blocks, each of which leads to the next, behind a direct buffer of eight bytes that is
   their handle. Only the first block is in the buffer. */
#include <stdlib.h>
#include <string.h>

/* The number of `NewDirectByteBuffer` among the functions of JNI, in all releases. */
enum { NEW_DIRECT_BYTE_BUFFER = 229 };
typedef void *new_direct_byte_buffer(void *env, void *address, long long capacity);

void *Java_Buffering_handle(void *env, void *class, int blocks, int bytes) {
  (void)class;
  void **root = malloc(8);
  void **last = root;
  for (int i = 0; i < blocks; i++) {
    void **block = malloc(bytes);
    if (!block || !root) return 0;
    memset(block, 7, bytes);
    *last = block, last = block;
  }
  *last = 0;
  return ((new_direct_byte_buffer *)(*(void ***)env)[NEW_DIRECT_BYTE_BUFFER])(env, root, 8);
}

/* The second: a global reference to an object. */
enum { NEW_GLOBAL_REF = 21 };
typedef void *new_global_ref(void *env, void *object);

void Java_Buffering_keep(void *env, void *class, void *object) {
  (void)class;
  ((new_global_ref *)(*(void ***)env)[NEW_GLOBAL_REF])(env, object);
}
