//! `assay load`: the generator alone.

mod recording;

use crate::arguments::{Arrivals, Format, LoadArguments, TlsArguments};
use crate::command::gate;
use crate::command::linux::plan::load_text;
use crate::command::linux::{inject, studies};
use crate::failure::Failure;
use crate::forms::{Described, LoadOf, show};
use crate::live::LiveLoad;
use crate::output;
use crate::output_file::can_be_written;
use crate::{seed, stop};
use assay_load::{
    ArrivalLaw, Condition, Generator, GeneratorConfig, Http, IntervalLogs, Load, LoadWindow, Progress,
    TlsOptions, calendar_time,
};
use assay_model::{GateCase, LoadResult};
use assay_scenario::RateSchedule;
use assay_text::redact;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long a load is where nothing says it.
const DURATION: Duration = Duration::from_secs(10);
pub(super) const STREAMS_OF_HTTP1: &str =
    "--streams is for HTTP/2: HTTP/1.1 carries one request at a time; add --http 2";

/// Loads a URL and prints what was measured. The exit code is 1 when the figures cannot be used, unless that is allowed; `problems` says why.
pub fn load(arguments: &LoadArguments) -> Result<ExitCode, Failure> {
    if arguments.recording.is_given() {
        return recording::scenario(&arguments.recording);
    }
    if let (Some(typed), None) = (arguments.request.duration_as_body(), arguments.duration) {
        return Err(Failure::input(format!(
            "-d {typed}: -d is the body of the request, as in curl, hey and oha. Write the length as -z \
                {typed} or --duration {typed} (with one of these, -d may be such a body)"
        )));
    }
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    gate::check_files(&arguments.gate_files)?;
    let config = config(arguments)?;
    let operations: Vec<&str> = config.scenario.operation_names().collect();
    for condition in &arguments.fail_if {
        condition.check(operations.iter().copied()).map_err(Failure::input)?;
    }
    let duration = duration(arguments, config.rate.as_ref())?;
    let law = law(arguments, config.rate.as_ref(), duration)?;
    if arguments.plan {
        return plan(arguments, &config, &law, duration);
    }
    let rate = config.rate.clone();
    let scenario = redact::text(config.scenario.text()).into_owned();
    let several = inject::several(&arguments.injectors, arguments.threads, &config)?;
    let stop = stop::flag_on_signal()?;
    let mut live = LiveLoad::new(duration);
    let mut on_progress = |progress: Progress| live.show(&progress);
    let measured = match several {
        Some(mut several) => {
            let (settle, slow_above) = (Duration::ZERO, None);
            let window = LoadWindow { load: law, settle, length: duration, slow_above };
            several.window(&window, &stop, &mut on_progress)
        }
        None => {
            let mut generator = Generator::new(config)?;
            let logs = arguments.hlog.as_deref().map(create_log).transpose()?;
            generator.run(&law, duration, &stop, logs, &mut on_progress)
        }
    };
    drop(live);
    let measured = measured?;
    let result = LoadResult {
        started_at: calendar_time(measured.start_monotonic_ns),
        scenario: Some(scenario),
        rate_schedule: rate.as_ref().map(|rate| rate.text().to_owned()),
        rates: rate.as_ref().map(|rate| measured.rates(rate)).unwrap_or_default(),
        ..measured.result()
    };
    let target = redact::text(&arguments.url);
    let measured_s = Some((measured.end_monotonic_ns - measured.start_monotonic_ns) as f64 / 1e9);
    let shown = LoadOf { result: &result, target: &target, measured_s };
    let form = arguments.format.form_beside(arguments.html.is_some());
    show(&shown, form, arguments.html.as_deref())?;
    let format = form.map(|form| form.format);
    if !result.valid && !matches!(format, Some(Format::Table | Format::Md)) {
        say!("NOT VALID: do not use these figures");
        if format.is_none() {
            output::note(&result.problems);
        }
    }
    if measured.stopped {
        return Ok(ExitCode::from(stop::INTERRUPTED));
    }
    end(arguments, &shown)
}

/// Says what the load would send.
fn plan(
    arguments: &LoadArguments,
    config: &GeneratorConfig,
    law: &Load,
    duration: Duration,
) -> Result<ExitCode, Failure> {
    let requests = config.planned_requests(law, duration);
    if arguments.format.is_json("--plan")? {
        output::print_json(&requests)?;
        return Ok(ExitCode::SUCCESS);
    }
    let threads = arguments.threads.filter(|threads| 1 < *threads);
    let threads = threads.map_or_else(String::new, |threads| format!(", {threads} threads"));
    let law = format!("{}{threads}", words_of(law, config));
    let target = redact::text(&arguments.url);
    let columns = output::width().into();
    output::print_text(&load_text(&target, &law, &requests, duration.as_secs_f64(), columns))?;
    Ok(ExitCode::SUCCESS)
}

/// A law in words.
fn words_of(law: &Load, config: &GeneratorConfig) -> String {
    let streams = match config.http {
        Http::One => String::new(),
        Http::Two { streams } => format!(" of {streams} streams each"),
    };
    let connections = format!("{} connections{streams}", config.connections);
    match law {
        Load::Closed { users, .. } => format!("closed loop of {users} users, {connections}"),
        Load::Open { arrivals, rate_per_s } => {
            let spread = match arrivals {
                ArrivalLaw::Constant => "constant",
                ArrivalLaw::Poisson => "Poisson",
            };
            let rate = match &config.rate {
                Some(schedule) => format!("{} (mean {rate_per_s:.1} requests/s)", schedule.text()),
                None => format!("{rate_per_s} requests/s"),
            };
            format!("open loop, {rate}, {spread} arrivals, {connections}")
        }
    }
}

/// What the conditions come to. The exit code is that of every command with conditions.
fn end(arguments: &LoadArguments, shown: &LoadOf<'_>) -> Result<ExitCode, Failure> {
    let is_good = shown.result.valid || arguments.allow_invalid;
    let judge = |condition: &Condition| condition.judge(shown.result, is_good);
    let cases: Vec<GateCase> = arguments.fail_if.iter().map(judge).collect();
    gate::tell(&cases);
    let bad = (!is_good).then(|| "it is not valid".to_owned());
    gate::write_cases(&arguments.gate_files, (shown.target, bad), &cases, &|| shown.document().markdown())?;
    Ok(gate::exit_code(is_good, &cases))
}

fn config(arguments: &LoadArguments) -> Result<GeneratorConfig, Failure> {
    let (base_url, scenario) = match &arguments.scenario {
        Some(named) => (arguments.url.clone(), studies::scenario(named)?),
        None => {
            assay_load::for_request(&arguments.url, &arguments.request.request().map_err(Failure::input)?)?
        }
    };
    let tls = TlsOptions {
        server_name: arguments.tls.server_name.clone(),
        resumption: !arguments.tls.no_resumption,
        verify: !arguments.tls.insecure,
        ..TlsOptions::default()
    };
    let TlsArguments { trust, client_cert, client_key, .. } = &arguments.tls;
    let http = arguments.http.http().ok_or_else(|| Failure::input(STREAMS_OF_HTTP1))?;
    // Each user of a chat has a connection of its own.
    let connections = match arguments.users {
        Some(users) if scenario.is_chat() => users,
        _ => arguments.connections,
    };
    let config = GeneratorConfig::new(base_url, scenario, connections);
    let rate = match &arguments.rate_schedule {
        Some(text) => {
            let schedule = RateSchedule::parse(text, Path::new(""));
            Some(schedule.map_err(|what| Failure::input(format!("--rate-schedule: {what}")))?)
        }
        None if arguments.rate.or(arguments.users.map(f64::from)).is_some() => None,
        None => config.rate.clone(),
    };
    // Alone they are a closed loop.
    let users = arguments.users.filter(|_| rate.is_some() || arguments.rate.is_some());
    Ok(GeneratorConfig {
        rate,
        tls: tls.with_files(trust.as_deref(), (client_cert.as_deref(), client_key.as_deref()))?,
        http,
        in_flight_max: arguments.in_flight,
        users,
        seed: arguments.seed.unwrap_or_else(seed::any),
        ..config
    })
}

fn law(arguments: &LoadArguments, rate: Option<&RateSchedule>, duration: Duration) -> Result<Load, Failure> {
    let open = |rate_per_s| Load::Open { arrivals: law_of(arguments.arrivals), rate_per_s };
    match (arguments.rate, arguments.users, rate) {
        (Some(rate_per_s), ..) => Ok(open(rate_per_s)),
        (None, Some(users), None) => Ok(Load::Closed { users, think: None }),
        (None, _, Some(rate)) => Ok(open(rate.mean_rate_per_s(0.0, duration.as_secs_f64()))),
        (None, None, None) => {
            Err(Failure::input("give --rate, --users or --rate-schedule; the scenario has no [rate]"))
        }
    }
}

/// As long as is asked for, or as the schedule is, which a load can cut short and not go beyond.
fn duration(arguments: &LoadArguments, rate: Option<&RateSchedule>) -> Result<Duration, Failure> {
    let length = rate.map(RateSchedule::length);
    match (arguments.duration, length) {
        (Some(asked), Some(length)) if length < asked => Err(Failure::input(format!(
            "--duration {}: the schedule of the rate ends after {}; leave --duration out, or add a phase",
            assay_text::duration::exact(asked),
            assay_text::duration::exact(length)
        ))),
        (asked, length) => Ok(asked.or(length).unwrap_or(DURATION)),
    }
}

fn law_of(arrivals: Arrivals) -> ArrivalLaw {
    match arrivals {
        Arrivals::Constant => ArrivalLaw::Constant,
        Arrivals::Poisson => ArrivalLaw::Poisson,
    }
}

fn create_log(path: &Path) -> Result<IntervalLogs, Failure> {
    let file = fs_err::File::create(path)
        .map_err(|e| Failure::input(format!("{e}; give --hlog a path that can be written")))?;
    Ok(IntervalLogs::each_second(io::BufWriter::new(file)))
}
