//! HotSpot's garbage collectors.

/// A garbage collector of HotSpot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the collectors' own names")]
pub enum Collector {
    Serial,
    Parallel,
    /// Until JDK 13.
    ConcMarkSweep,
    G1,
    Z,
    Shenandoah,
    Epsilon,
}

impl Collector {
    /// Every collector, in the order in which reports list them.
    pub const ALL: [Collector; 7] = [
        Collector::Serial,
        Collector::Parallel,
        Collector::ConcMarkSweep,
        Collector::G1,
        Collector::Z,
        Collector::Shenandoah,
        Collector::Epsilon,
    ];

    /// Its name, as `-XX:+Use…GC` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Collector::Serial => "Serial",
            Collector::Parallel => "Parallel",
            Collector::ConcMarkSweep => "ConcMarkSweep",
            Collector::G1 => "G1",
            Collector::Z => "Z",
            Collector::Shenandoah => "Shenandoah",
            Collector::Epsilon => "Epsilon",
        }
    }

    /// The collector that a flag such as `UseG1GC` chooses.
    pub fn of_flag(flag: &str) -> Option<Collector> {
        let name = flag.strip_prefix("Use")?.strip_suffix("GC")?;
        Collector::ALL.into_iter().find(|collector| collector.name() == name)
    }
}
