// Looks at the pages of CPU time: silence, no collisions, labels on phones, contrast, marks.
import { testLabelsOnPhones, testMarksHaveStyles, testNoCollisions, testReadable, testSilence } from "./pages.mjs";

const PAGES = ["time.html", "time-stacks.html", "time-change.html"];

testNoCollisions(PAGES, [1280, 768, 390, 360]);
testLabelsOnPhones(PAGES);
testReadable(PAGES);
testMarksHaveStyles(PAGES);
testSilence(PAGES);
