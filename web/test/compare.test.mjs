// Looks at the page of two runs side by side: silence, no collisions, labels on phones, contrast, marks.
import { testLabelsOnPhones, testMarksHaveStyles, testNoCollisions, testReadable, testSilence } from "./pages.mjs";

const PAGES = ["compared.html"];

testNoCollisions(PAGES, [1280, 768, 400, 360]);
testLabelsOnPhones(PAGES);
testReadable(PAGES);
testMarksHaveStyles(PAGES);
testSilence(PAGES);
