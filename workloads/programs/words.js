// For Rhino: counts words that it makes, over and over.
var total = 0;
for (var round = 0; round < 40; round++) {
    var counts = {};
    for (var i = 0; i < 20000; i++) {
        var word = "word" + (i * 7919 % 5003) + "-" + round % 7;
        counts[word] = (counts[word] || 0) + 1;
    }
    var words = Object.keys(counts).sort(function (a, b) { return counts[b] - counts[a] || (a < b ? -1 : 1); });
    total += words.slice(0, 100).join(" ").length;
}
print(total);
