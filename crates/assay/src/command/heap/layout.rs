//! `assay heap layout`.

use super::dump;
use super::no_such_class::no_such_class;
use crate::arguments::LayoutArguments;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use assay_heap::class_path::{self, ClassPathError};
use assay_heap::predict::{detect, find_class, jdk_default, layouts_of};
use assay_heap::{ClassHistogram, ClassIndex};
use assay_model::{HeapLayouts, Problem, schema};
use std::ffi::OsStr;
use std::process::ExitCode;

/// Does what was asked for.
pub fn layout(arguments: &LayoutArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let layouts = match (&arguments.dump, &arguments.classpath) {
        (Some(path), _) => in_dump(&dump::read(path)?, arguments, dump::name_of(path))?,
        (None, Some(paths)) => in_class_path(paths, arguments)?,
        (None, None) => return Err(Failure::input("where is the class? --dump DUMP or --classpath PATHS")),
    };
    show_as_asked(&layouts, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn in_dump(
    histogram: &ClassHistogram,
    arguments: &LayoutArguments,
    source: String,
) -> Result<HeapLayouts, Failure> {
    let class = find_class(histogram, &arguments.class).map_err(|error| no_such_class(&source, &error))?;
    let shape = &histogram.classes[class as usize];
    if shape.arrays.is_some() || shape.name.ends_with("[]") {
        let message =
            format!("{} is an array class: it has no fields\n  give the class of its elements", shape.name);
        return Err(Failure::input(message));
    }
    let mut problems = histogram.problems.clone();
    let jdk = arguments.jdk.or_else(|| detect(histogram).jdk).unwrap_or_else(|| {
        let newest = jdk_default();
        let what = format!("the heap does not say its release: layout rules of JDK {newest} (--jdk N)");
        problems.push(Problem::new(source.clone(), what));
        newest
    });
    Ok(layouts(histogram, class, jdk, source, problems))
}

fn in_class_path(paths: &OsStr, arguments: &LayoutArguments) -> Result<HeapLayouts, Failure> {
    let source = paths.to_string_lossy().into_owned();
    let histogram = class_path::read(paths, &arguments.class).map_err(|error| match error {
        ClassPathError::NotFound(error) => no_such_class(&source, &error),
        ClassPathError::NoSuperClass { .. } => {
            let hint =
                "add where it is; for the JDK's own classes the home of a JDK: --classpath PATHS:JAVA_HOME";
            Failure::input(format!("{error}\n  {hint}"))
        }
        error => Failure::input(error.to_string()),
    })?;
    let problems = histogram.problems.clone();
    // The class is the first: its super classes follow.
    let of_path = histogram.jdk();
    let jdk = arguments.jdk.or(of_path).unwrap_or(jdk_default());
    Ok(layouts(&histogram, 0, jdk, source, problems))
}

fn layouts(
    histogram: &ClassHistogram,
    class: ClassIndex,
    jdk: u32,
    source: String,
    problems: Vec<Problem>,
) -> HeapLayouts {
    let layouts = layouts_of(histogram, class, jdk);
    HeapLayouts { schema: schema::HEAP_LAYOUT.to_owned(), source, layouts, problems }
}
