// Looks at the pages without a file of tests of their own: silence, no collisions, labels on phones, contrast, marks.
import { leaveScreenshots, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions, testReadable, testSilence } from "./pages.mjs";

const PAGES = ["load.html", "memory-advice.html", "host.html", "host-diff.html", "flags.html", "ab.html", "why.html", "judge.html", "bisect.html", "fit.html"];

testNoCollisions([...PAGES, "load-hostile.html"], [1280, 768, 390, 360]);
// The pages of `why` and `bisect` have words alone.
testLabelsOnPhones(PAGES.filter((name) => !["why.html", "bisect.html"].includes(name)));
testReadable(PAGES);
testMarksHaveStyles(PAGES);
testHostileNames("load-hostile.html");
testSilence(PAGES);
leaveScreenshots(PAGES.flatMap((name) => [[name, 1280, "light"], [name, 390, "dark"]]), 10_000);
