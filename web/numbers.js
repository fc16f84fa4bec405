// Numbers as the program writes them.
"use strict";
const numbers = (() => {
  const KIB = 2 ** 10;
  const fixed = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  /** Bytes: `12.3 MiB`. */
  const size = (bytes) => {
    if (bytes < KIB) return `${bytes} B`;
    if (bytes < KIB ** 2) return `${fixed(bytes / KIB, 1)} KiB`;
    if (bytes < KIB ** 3) return `${fixed(bytes / KIB ** 2, 1)} MiB`;
    if (bytes < KIB ** 4) return `${(bytes / KIB ** 3).toFixed(2)} GiB`;
    return `${fixed(bytes / KIB ** 4, 1)} TiB`;
  };
  const significant = (value, digits = 4) => Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  return { size, significant, count: (value) => value.toLocaleString("en-US") };
})();
