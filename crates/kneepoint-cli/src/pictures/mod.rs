// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Charts as files: the options of every verb that draws, and the formats.

mod fonts;
mod letters;
mod page;
mod pdf;
mod png;

use std::path::Path;

use clap::{Args, ValueEnum};
use kneepoint::chart::{Look, Size};
use kneepoint::report::pictures::Picture;
use kneepoint_bench::files;
use resvg::usvg::{Options, Tree};

use crate::failure::Failure;

/// Options of every verb that draws.
#[derive(Args, Clone, Default)]
pub struct ChartOptions {
    /// Formats of the charts in OUT/figures; SVG is always written
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT", ignore_case = true)]
    charts: Vec<Format>,
    /// Size of these charts on paper, as in 3.3in, 8cm or, with the height, 3.3x2.2in; they are laid out for it with letters of 8 pt
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,
    /// Family of their letters, as in "Times New Roman" [default: the reader's own in SVG, Roboto in PNG and PDF]
    #[arg(long, value_name = "NAME")]
    font: Option<String>,
}

/// Formats of charts. Documents link to the SVG files, which are always written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Svg,
    Png,
    Pdf,
}

/// A picture that is higher than the requested size.
pub struct Grown {
    /// Its name.
    pub name: String,
    /// Its height.
    pub inches: f64,
}

/// The notice about these pictures; none without pictures.
pub fn told(grown: &[Grown]) -> Option<String> {
    let highest = grown.iter().max_by(|one, other| one.inches.total_cmp(&other.inches))?;
    let Grown { name, inches } = highest;
    let inches = (100.0 * inches).ceil() / 100.0;
    Some(match grown.len() {
        1 => format!("--size: figures/{name} is {inches}in high, so that its letters keep their size"),
        several => format!(
            "--size: {several} charts are higher, so that their letters keep their size; the highest, figures/{name}, is \
             {inches}in high"
        ),
    })
}

/// Writes pictures in the formats of some options, read once for all of them.
pub struct Printer {
    formats: Vec<Format>,
    look: Look,
    options: Options<'static>,
}

impl ChartOptions {
    /// The same with the default formats of a verb.
    pub fn or(&self, usual: &[Format]) -> ChartOptions {
        let charts = if self.charts.is_empty() { usual } else { &self.charts };
        ChartOptions { charts: charts.to_vec(), ..self.clone() }
    }

    /// Whether they say anything.
    pub fn given(&self) -> bool {
        !self.charts.is_empty() || self.size.is_some() || self.font.is_some()
    }

    /// Finds the font, so that a missing one is reported before anything is computed.
    pub fn printer(&self) -> Result<Printer, Failure> {
        Ok(Printer {
            formats: self.charts.clone(),
            look: Look { size: self.size, font: self.font.clone() },
            options: fonts::options(self.font.as_deref())?,
        })
    }
}

impl Printer {
    /// Writes a picture as NAME.svg in a folder, and in the other formats next to it. States the height where it
    /// exceeds
    /// the requested one.
    pub fn write(&self, picture: &Picture, folder: &Path) -> Result<Option<Grown>, Failure> {
        let svg = picture.drawing.file(&self.look);
        let place = |extension: &str| folder.join(format!("{}.{extension}", picture.name));
        for format in self.formats.iter().filter(|format| **format != Format::Svg) {
            let tree = self.tree(&svg)?;
            match format {
                Format::Png => files::write(&place("png"), png::render(&tree, self.look.size.is_some())?)?,
                Format::Pdf => files::write(&place("pdf"), pdf::render(&tree, picture.drawing.title())?)?,
                Format::Svg => {}
            }
        }
        files::write(&place("svg"), svg)?;
        let grown = picture.drawing.grown(&self.look);
        Ok(grown.map(|inches| Grown { name: picture.name.clone(), inches }))
    }

    /// An SVG with its styles applied and its text set, in light mode.
    fn tree(&self, svg: &str) -> Result<Tree, Failure> {
        Tree::from_str(svg, &self.options)
            .map_err(|error| failed(format!("cannot read a chart as SVG: {error}")))
    }
}

fn failed(message: String) -> Failure {
    Failure::run(message, "use the SVG as it is")
}
