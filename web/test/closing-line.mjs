// Runs the page tests and ends with one line that counts them; fails when one fails or none ran.
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const count = { pass: 0, fail: 0 };
const stream = run({ files: [fileURLToPath(new URL("report.test.mjs", import.meta.url))], timeout: 300_000 });
const isTest = (event) => event.nesting === 0 && !event.name.endsWith("report.test.mjs");
stream.on("test:pass", (event) => isTest(event) && count.pass++);
stream.on("test:fail", () => count.fail++);
const told = stream.compose(spec);
told.pipe(process.stdout);
told.on("end", () => {
  console.log(`report pages: ${count.pass + count.fail} tests, ${count.fail} failed`);
  process.exitCode = count.fail > 0 || count.pass === 0 ? 1 : 0;
});
