package shop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import jdk.internal.vm.annotation.Contended;

/** What {@code tests/layout/class_path.rs} reads: one of each kind of field, and annotations that hold annotations. */
@Sample.Marked(values = {"a", "b"}, inner = @Sample.Inner(numbers = {1, 2, 3}))
class Sample extends java.util.AbstractMap<String, String> {
    static final long VERSION = 3;
    static Object shared;
    boolean open;
    byte kind;
    char letter;
    short room;
    int count;
    float share;
    double price;
    long total;
    String name;
    int[][] table;
    @Contended("hits") volatile long hits;
    @Marked(values = {}, inner = @Inner(numbers = {})) @Contended int alone;

    @Override
    public java.util.Set<java.util.Map.Entry<String, String>> entrySet() {
        return java.util.Set.of();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Inner {
        int[] numbers();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked {
        String[] values();
        Inner inner();
    }

    @Contended
    static class Apart {
        int field;
    }
}
