//! Loads a URL and prints the stored form, for the benchmark beside other generators:
//! `load URL open RATE|closed USERS SECONDS CONNECTIONS [STREAMS]`; with streams it speaks HTTP/2.

use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Http, Load, for_url};
use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, law, amount, seconds, connections, streams @ ..] = args.as_slice() else {
        return Err("usage: load URL open|closed RATE|USERS SECONDS CONNECTIONS [STREAMS]".into());
    };
    let (base_url, scenario) = for_url(url)?;
    let http = match streams.first() {
        Some(streams) => Http::Two { streams: streams.parse()? },
        None => Http::One,
    };
    let config = GeneratorConfig { http, ..GeneratorConfig::new(base_url, scenario, connections.parse()?) };
    let mut generator = Generator::new(config)?;
    let load = match law.as_str() {
        "open" => Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: amount.parse()? },
        _ => Load::Closed { users: amount.parse()?, think: None },
    };
    let duration = Duration::from_secs_f64(seconds.parse()?);
    let measured = generator.run(&load, duration, &AtomicBool::new(false), None, &mut |_| ())?;
    println!("{}", serde_json::to_string(&measured.result())?);
    Ok(())
}
