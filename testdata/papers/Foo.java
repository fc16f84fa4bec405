/** Two references and two ints: 28 bytes with a header of three words and 4-byte references, 48 with 8-byte ones, as in the paper's Figure 1. */
class Foo {
    Object first;
    Object second;
    int third;
    int fourth;
}
