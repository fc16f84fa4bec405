// For Groovy: counts words that it makes, over and over.
def total = 0L
40.times { round ->
    def counts = [:].withDefault { 0 }
    20_000.times { i -> counts["word${i * 7919 % 5003}-${round % 7}".toString()] += 1 }
    total += counts.entrySet().toList().sort { a, b -> b.value <=> a.value ?: a.key <=> b.key }.take(100)*.key.join(' ').length()
}
println total
