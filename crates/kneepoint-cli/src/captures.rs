// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The packets of a run as files: pcapng for each requested link, qlog for each requested flow.

use std::path::PathBuf;

use kneepoint::capture::Writer;
use kneepoint::capture::qlog::Tracer;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::Time;
use kneepoint_bench::files::Pending;

use crate::failure::Failure;
use crate::flow::tagged;

/// Writers of the captured links.
#[derive(Default)]
pub struct Captures(Vec<(PathBuf, Writer<Pending>)>);

impl Captures {
    /// Starts a file at `path(link)` for each of `links`.
    pub fn create(
        links: &[String],
        valid: &Valid,
        path: impl Fn(&str) -> Result<PathBuf, Failure>,
    ) -> Result<Captures, Failure> {
        let capture = |link: &String| {
            let path = path(link)?;
            let capture = Writer::new(Pending::create(&path)?, valid, link);
            let capture = capture.map_err(|error| Failure::io("write", &path, &error))?;
            Ok((path, capture))
        };
        links.iter().map(capture).collect::<Result<_, _>>().map(Captures)
    }

    /// Completes the files and moves them to their final names.
    pub fn commit(self) -> Result<(), Failure> {
        self.0.into_iter().try_for_each(|(path, capture)| {
            capture.finish().map_err(|error| Failure::io("write", &path, &error))?.commit()
        })
    }
}

impl Observer for Captures {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        for (_, capture) in &mut self.0 {
            capture.on(at, event);
        }
    }
}

/// Writers of the traced flows.
#[derive(Default)]
pub struct Tracers(Vec<(PathBuf, Tracer<Pending>)>);

impl Tracers {
    /// Starts a file at `path(flow)` for each of `flows`.
    pub fn create(
        flows: &[String],
        valid: &Valid,
        path: impl Fn(&str) -> Result<PathBuf, Failure>,
    ) -> Result<Tracers, Failure> {
        let trace = |asked: &String| {
            let (flow, name) = tagged(valid, "--qlog", Some(asked))?;
            let path = path(&name)?;
            let tracer = Tracer::new(Pending::create(&path)?, valid, flow, &name);
            Ok((path.clone(), tracer.map_err(|error| Failure::io("write", &path, &error))?))
        };
        flows.iter().map(trace).collect::<Result<_, _>>().map(Tracers)
    }

    /// Completes the files and moves them to their final names.
    pub fn commit(self) -> Result<(), Failure> {
        self.0.into_iter().try_for_each(|(path, tracer)| {
            tracer.finish().map_err(|error| Failure::io("write", &path, &error))?.commit()
        })
    }
}

impl Observer for Tracers {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        for (_, tracer) in &mut self.0 {
            tracer.on(at, event);
        }
    }
}
