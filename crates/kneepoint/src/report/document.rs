// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documents: sections of prose, tables, figures and claims, the same for every [format](super::format).

use crate::chart::Drawing;
use crate::metric::Metric;
use crate::table::number::{self, Spread};
use crate::table::{Bounds, Estimate};

/// A report for people.
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its subject, in a sentence or two.
    pub about: Prose,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A part of a document.
pub struct Section {
    /// Its heading; empty for an introduction.
    pub heading: String,
    /// Its contents, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
pub enum Block {
    /// A paragraph.
    Prose(Prose),
    /// A list of paragraphs.
    List(Vec<Prose>),
    /// A table.
    Table(Table),
    /// Figures side by side.
    Figures(Layout, Vec<Figure>),
    /// The kind of the statements with verdicts: claims, controllers.
    Findings(&'static str, Vec<Finding>),
    /// The schemes and the classes of their colours.
    Key(Vec<(String, String)>),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// A file: its name and its text.
    Listing(String, String),
    /// The table for a column of a paper, which is its own file.
    Paper(Box<Paper>),
    /// Blocks for pages, and their replacements in a terminal.
    Pages {
        /// On pages.
        blocks: Vec<Block>,
        /// In a terminal.
        terminal: Vec<Block>,
    },
}

/// One table with everything needed to read it alone.
#[derive(Clone)]
pub struct Paper {
    /// Its contents, for its label.
    pub name: String,
    /// Its contents, for its caption.
    pub title: String,
    /// The rest of the caption.
    pub notes: Vec<Prose>,
    /// The table, in which lines without cells are headings of lines below them.
    pub table: Table,
}

/// Text with emphasis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prose(pub Vec<Inline>);

/// A piece of text.
#[derive(Clone, Debug, PartialEq)]
pub enum Inline {
    /// As it is.
    Plain(String),
    /// Important.
    Strong(String),
    /// Stressed.
    Emphasis(String),
    /// A command or a name in a program.
    Code(String),
    /// A link, and where it leads.
    Link(String, String),
}

/// Lines of cells under columns; the first column has the names of the lines.
#[derive(Clone, Default)]
pub struct Table {
    /// The title of the first column.
    pub corner: String,
    /// The other columns.
    pub columns: Vec<Column>,
    /// The lines, each with a cell for each of these columns.
    pub lines: Vec<TableLine>,
    /// Whether the lines' names are headings of sections, to which pages link.
    pub linked: bool,
}

/// A column of a table.
#[derive(Clone, Default)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// The title for use without the preceding columns; empty where it is the same.
    pub alone: String,
    /// The unit of its numbers.
    pub unit: String,
    /// The definition behind the title, for a tooltip.
    pub about: String,
    /// Whether its cells are left-aligned text.
    pub text: bool,
    /// The class of its scheme's colour in charts.
    pub class: Option<String>,
    /// Whether its cells are a part of the names of the lines: levels of a factor.
    pub level: bool,
}

/// A line of a table.
#[derive(Clone, Default)]
pub struct TableLine {
    /// Its name.
    pub name: String,
    /// The definition behind the name, for a tooltip.
    pub about: String,
    /// The class of its colour in charts.
    pub class: Option<String>,
    /// A cell for each column.
    pub cells: Vec<Shown>,
}

/// Text, or a mean with its confidence interval over several seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The text or the mean.
    pub mean: String,
    /// The confidence interval.
    pub spread: Option<Spread>,
    /// Its rank among the compared numbers.
    pub standing: Standing,
}

/// The standing of a number among those under the same conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Worse than the best, or not compared with any.
    #[default]
    Unmarked,
    /// The best mean.
    Best,
    /// Statistically indistinguishable from the best.
    Alike,
    /// Equal to the best within the time of one packet.
    Close,
}

impl Standing {
    /// Its mark behind a number in text; none for most numbers.
    pub fn mark(self) -> &'static str {
        match self {
            Standing::Unmarked => "",
            Standing::Best => "*",
            Standing::Alike | Standing::Close => "≈",
        }
    }
}

/// The arrangement of figures on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Small multiples.
    Grid,
    /// Two abreast.
    Halves,
    /// At its own size; scrolled if wider than the page.
    Whole,
}

/// A chart and its texts.
pub struct Figure {
    /// The stem of its file's name, unique in a document.
    pub name: String,
    /// Its caption, with the unit.
    pub title: String,
    /// How to read it.
    pub note: &'static str,
    /// The class of its scheme, if it is about one.
    pub class: Option<String>,
    /// The chart.
    pub drawing: Drawing,
}

/// A statement with its verdict.
#[derive(Default)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// The statement.
    pub text: String,
    /// The verdict.
    pub verdict: String,
    /// Whether the verdict stands out.
    pub stands_out: bool,
    /// Whether noise could have decided it.
    pub noisy: bool,
    /// Our number.
    pub ours: Option<String>,
    /// The published number.
    pub published: Option<String>,
    /// The grounds of the verdict.
    pub why: Vec<String>,
}

impl Document {
    /// Every figure, in order.
    pub fn figures(&self) -> Vec<&Figure> {
        self.sections.iter().flat_map(|section| &section.blocks).flat_map(Block::figures).collect()
    }
}

impl Figure {
    /// A name as a part of a file's name, different for different names: `a/b` becomes `a=2fb`.
    pub fn stem(name: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        name.bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("={byte:02x}") })
            .collect()
    }
}

impl Section {
    /// Blocks below a heading.
    pub fn new(heading: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { heading: heading.into(), blocks }
    }
}

impl Block {
    /// A paragraph.
    pub fn prose(text: impl Into<Prose>) -> Block {
        Block::Prose(text.into())
    }

    /// Every figure in it, in order.
    pub(super) fn figures(&self) -> Vec<&Figure> {
        match self {
            Block::Figures(_, figures) => figures.iter().collect(),
            Block::Pages { blocks, .. } => blocks.iter().flat_map(Block::figures).collect(),
            _ => Vec::new(),
        }
    }

    /// Blocks that a terminal leaves out.
    pub fn pages(blocks: Vec<Block>) -> Block {
        Block::Pages { blocks, terminal: Vec::new() }
    }
}

impl Prose {
    /// The text without emphasis.
    pub fn plain(&self) -> String {
        self.0.iter().map(Inline::text).collect()
    }

    /// Followed by important text.
    pub fn strong(mut self, text: impl Into<String>) -> Prose {
        self.0.push(Inline::Strong(text.into()));
        self
    }

    /// Followed by stressed text.
    pub fn emphasis(mut self, text: impl Into<String>) -> Prose {
        self.0.push(Inline::Emphasis(text.into()));
        self
    }

    /// Followed by a command.
    pub fn code(mut self, text: impl Into<String>) -> Prose {
        self.0.push(Inline::Code(text.into()));
        self
    }

    /// Followed by a link.
    pub fn link(mut self, text: impl Into<String>, address: impl Into<String>) -> Prose {
        self.0.push(Inline::Link(text.into(), address.into()));
        self
    }

    /// Followed by text.
    pub fn then(mut self, text: impl Into<String>) -> Prose {
        self.0.push(Inline::Plain(text.into()));
        self
    }
}

impl Inline {
    /// The text without emphasis.
    pub fn text(&self) -> &str {
        match self {
            Inline::Plain(text) | Inline::Strong(text) | Inline::Emphasis(text) => text,
            Inline::Code(text) | Inline::Link(text, _) => text,
        }
    }
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Prose {
        Prose::default().then(text)
    }
}

impl Column {
    /// A column of text.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), text: true, ..Column::default() }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>, unit: impl Into<String>) -> Column {
        Column { title: title.into(), unit: unit.into(), ..Column::default() }
    }

    /// The title with its unit: `utilization, %`.
    pub fn title_and_unit(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{}, {}", self.title, self.unit) }
    }
}

impl TableLine {
    /// A line without a colour.
    pub fn new(name: impl Into<String>, cells: Vec<Shown>) -> TableLine {
        TableLine { name: name.into(), cells, ..TableLine::default() }
    }

    /// Whether it is a heading of the lines below it.
    pub fn is_heading(&self) -> bool {
        self.cells.is_empty()
    }
}

impl Shown {
    /// An estimate times `scale`, to the digits that its interval leaves any meaning, for a quantity without bounds.
    pub fn of(estimate: &Estimate, scale: f64) -> Shown {
        Shown::within(estimate, scale, Bounds::NONE)
    }

    /// The estimate of a metric in its unit for people, with an interval inside its bounds.
    pub fn metric(estimate: &Estimate, metric: &Metric) -> Shown {
        Shown::within(estimate, metric.scale, metric.bounds)
    }

    /// An estimate times `scale`, with an interval inside the bounds of its quantity.
    pub fn within(estimate: &Estimate, scale: f64, bounds: Bounds) -> Shown {
        let (mean, spread) = number::quoted(estimate, scale, bounds);
        Shown { mean, spread, standing: Standing::Unmarked }
    }

    /// In the place that it has among others.
    pub fn standing(self, standing: Standing) -> Shown {
        Shown { standing, ..self }
    }

    /// `12.3 ± 0.4` or `4 (0–14)`, without a mark.
    pub fn text(&self) -> String {
        match &self.spread {
            Some(spread) => format!("{} {spread}", self.mean),
            None => self.mean.clone(),
        }
    }
}

impl<T: Into<String>> From<T> for Shown {
    fn from(text: T) -> Shown {
        Shown { mean: text.into(), spread: None, standing: Standing::Unmarked }
    }
}
