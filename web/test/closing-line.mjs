// Runs the page tests and ends with one line that counts them; fails when one fails or none ran.
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const count = { pass: 0, fail: 0 };
const FILES = ["report.test.mjs", "memory.test.mjs", "heap.test.mjs", "capacity.test.mjs", "gc.test.mjs", "compare.test.mjs", "first-screen.test.mjs", "charts.test.mjs", "flames.test.mjs", "time.test.mjs", "others.test.mjs"];
// One browser at a time: two starve each other on a small machine, and a page that waits looks like one that fails.
const files = FILES.map((name) => fileURLToPath(new URL(name, import.meta.url)));
const stream = run({ files, concurrency: 1, timeout: 300_000 });
const isTest = (event) => event.nesting === 0 && !event.name.endsWith(".test.mjs");
stream.on("test:pass", (event) => isTest(event) && count.pass++);
stream.on("test:fail", () => count.fail++);
const told = stream.compose(spec);
told.pipe(process.stdout);
told.on("end", () => {
  console.log(`report pages: ${count.pass + count.fail} tests, ${count.fail} failed`);
  process.exitCode = count.fail > 0 || count.pass === 0 ? 1 : 0;
});
