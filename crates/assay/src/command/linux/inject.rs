//! `assay inject`: a process that makes load for a controller elsewhere; and the controller's side of it.

use crate::arguments::{InjectArguments, InjectorsArguments};
use crate::failure::Failure;
use crate::{output, stop};
use assay_inject::{InjectorEvent, Injectors, InjectorsConfig, Threads, Token, serve};
use assay_load::{GeneratorConfig, LoadError, LoadSource};
use assay_study::generator;
use std::net::TcpListener;
use std::process::ExitCode;

/// Serves controllers until Ctrl-C.
pub fn inject(arguments: &InjectArguments) -> Result<ExitCode, Failure> {
    let token = Token::read(&arguments.token_file).map_err(|error| {
        Failure::input(format!("{error}\n  a new one: (umask 077; head -c 24 /dev/urandom | base64 > FILE)"))
    })?;
    let listener = TcpListener::bind(&arguments.listen)
        .map_err(|e| Failure::environment(format!("cannot listen on {}: {e}", arguments.listen)))?;
    let stop = stop::flag_on_signal()?;
    let address = listener.local_addr()?;
    output::print(|out| writeln!(out, "listening on {address}"))?;
    if !address.ip().is_loopback() {
        say!(
            "anyone who reaches {address} and knows the token can have this host load any server. The control \
                connection is encrypted, the load itself is not"
        );
    }
    serve(&listener, &token, &stop, &|event| match event {
        InjectorEvent::Controller { from } => say!("{from}: serving it"),
        InjectorEvent::Dismissed { from, why } => say!("{from}: dismissed: {why}"),
        InjectorEvent::Gone { from, why } => say!("{from}: gone: {why}"),
    })?;
    Ok(ExitCode::from(stop::INTERRUPTED))
}

/// The load of a study, by so many threads of this process; by one for each of several servers alike.
pub fn on_threads(load: GeneratorConfig, threads: u32) -> Result<Box<dyn LoadSource + Send>, LoadError> {
    let threads = threads.max(load.replicas.len() as u32 + 1);
    if 1 < threads { Ok(Box::new(Threads::new(&load, threads)?)) } else { generator(load, threads) }
}

/// The injectors that were asked for, or several threads of this process, for such a load; absent where one generator makes it.
pub fn several(
    arguments: &InjectorsArguments,
    threads: Option<u32>,
    load: &GeneratorConfig,
) -> Result<Option<Box<dyn LoadSource + Send>>, LoadError> {
    let Some(token_file) = arguments.token_file.as_deref().filter(|_| !arguments.injectors.is_empty()) else {
        let threads = threads.filter(|threads| 1 < *threads);
        return threads.map(|threads| on_threads(load.clone(), threads)).transpose();
    };
    let config = InjectorsConfig {
        injectors: arguments.injectors.clone(),
        token: Token::read(token_file)?,
        load: load.clone(),
        go_on_without: arguments.go_on_without,
    };
    Ok(Some(Box::new(Injectors::connect(config)?)))
}
