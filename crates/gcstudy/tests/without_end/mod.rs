//! Pieces of logs, of which there may be any number.

/// What begins again and again and never ends.
pub const PIECES: [&str; 7] = [
    "[",
    "[1.0s]",
    "<a ",
    "<gc-start id=\"1\">\n",
    "GC(1) ",
    "[GC ",
    "[0.1s][info][gc,start] GC(1) Pause Young\n",
];
