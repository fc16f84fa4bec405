// Numbers as the program writes them (crates/kit/src/number.rs, crates/text/src/percent.rs).
"use strict";
const numbers = (() => {
  const KIB = 2 ** 10;
  const fixed = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const count = (value) => value.toLocaleString("en-US");
  /** Bytes in the unit that fits: `12.3 MiB`. */
  const size = (bytes) => {
    if (bytes < KIB) return `${bytes} B`;
    if (bytes < KIB ** 2) return `${fixed(bytes / KIB, 1)} KiB`;
    if (bytes < KIB ** 3) return `${fixed(bytes / KIB ** 2, 1)} MiB`;
    if (bytes < KIB ** 4) return `${(bytes / KIB ** 3).toFixed(2)} GiB`;
    return `${fixed(bytes / KIB ** 4, 1)} TiB`;
  };
  /** Bytes as pictures have them: in MiB from a tenth of one on. */
  const bytes = (value) => {
    if (value < KIB) return `${Math.round(value)} B`;
    return value < 0.1 * KIB ** 2 ? `${fixed(value / KIB, 1)} KiB` : `${fixed(value / KIB ** 2, 1)} MiB`;
  };
  /** Up to so many digits: of an axis, or of what a cursor reads from a picture. */
  const significant = (value, digits = 4) => Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  /** Three digits, with trailing zeros. */
  const three = (value) => {
    if (value === 0) return "0";
    const rounded = Number(value.toPrecision(3));
    return fixed(rounded, Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-9))));
  };
  /** Nanoseconds in the unit that fits. */
  const time = (ns) => {
    if (ns === 0) return "0 ms";
    if (ns < 1) return "<1 ns";
    if (ns < 1e3) return `${three(ns)} ns`;
    if (ns < 1e6) return `${three(ns / 1e3)} µs`;
    return ns < 1e9 ? `${three(ns / 1e6)} ms` : `${three(ns / 1e9)} s`;
  };
  /** A share of one; what is more than nothing is not called that by `percent`. */
  const share = (of) => {
    if (of > 9.99) return ">999 %";
    if (of < 0.000_05) return "0.0 %";
    return `${(100 * of).toFixed(of < 0.009_95 ? 2 : 1)} %`;
  };
  const percent = (of) => (0 < of && of < 0.000_05 ? "<0.01 %" : share(of));
  return { bytes, count, percent, share, significant, size, time };
})();
