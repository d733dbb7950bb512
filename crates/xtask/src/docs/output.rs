// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/output.md`: every key and column that `knee` prints or writes for programs.

use std::fmt::Write;

use kneepoint::measure::{Subject, headlines};
use kneepoint::metric::Metric;
use kneepoint::report::output::{self, Output, Part, TABLES, UNITS};
use kneepoint::report::{PARTS, SCHEMA_VERSION};

const PREFACE: &str = "\
# Output

*Generated from the sources by `cargo run -p xtask -- docs`; do not edit.*

Every key and column that `knee` prints or writes for programs, with its unit and definition. A test compares this page with what
the verbs print.

## Rules

* `--json` prints one JSON object on standard output; notes for people stay on standard error. Documents of one kind have the same keys
  whatever the options are: a number that is undefined is `null`, a list without members is empty. Metrics are the exception: a run has those
  that apply to it, and one that is undefined is left out.
* Every document has `schema_version`, SCHEMA_VERSION at present. It rises when a key changes its name or its meaning, or goes: see
  [What changed](#what-changed). `knee schema` prints
  a document of another standard, JSON Schema, which has the version of that standard. Kept runs, `out/runs`, are for `knee` itself: see [files.md](files.md).
* With `--json` an error is one JSON object on one line, the last of standard error, also for arguments that cannot be
  parsed: see [Errors](#errors). The exit status is the same as without.
* CSV follows RFC 4180; a number that is undefined is an empty field. Numbers read back as they were. In Parquet and in Arrow it is null. A number is
  undefined if it is not finite: one rule for every file.
* A text of a CSV file that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or an end of a line, has
  an apostrophe before it, unless it is a number; Parquet, Arrow and JSON have the text as it is.
* A character that would act or hide instead of being seen, as the escape of a terminal, is written as an escape of JSON, `\\u001b`, in
  terminals, reports, figures and CSV files; Parquet and Arrow have the character, and JSON has it again when it is read.
* The end of a key is its unit; a key without one is a text, a count or a ratio. *Fractions* are of one, not percent.
* `OUT` is the directory of `--out`. A name between `<` and `>` represents one that differs.
* An *estimate* is an object: `mean`, the mean over the runs, and `half_width`, half the width of its 95 % confidence
  interval, `null` with one run or where all runs are the same. A column with an estimate has the mean, and one that ends in
  `_half_width` the rest. The interval is Student's, symmetrical; reports for people cut it at the bounds of the quantity, as
  `4 (0–14)` timeouts, and leave it out where every run has the same number or no digit would show it.

| ending | unit | |
|---|---|---|
";

const PARQUET: &str = "
### Parquet

A Parquet file has the columns of the CSV file beside it, and these entries in its metadata:

| key | value |
|---|---|
| `schema_version` | as in JSON |
| `about` | what a line is |
| `columns` | JSON: an object that has `unit` and `definition` under the name of each column, as below |
| `manifest` | JSON: the [manifest](#manifest) of the runs; machine, date, command line and notes are left out, so that equal runs produce identical files |

```python
import json, pyarrow.parquet
metadata = pyarrow.parquet.read_schema(\"series.parquet\").metadata
print(json.loads(metadata[b\"columns\"])[\"time_s\"])
```

```sql
SELECT decode(value) FROM parquet_kv_metadata('series.parquet') WHERE decode(key) = 'columns';
```
";

const CHANGES: &str = "
## What changed

| version | what a reader has to change |
|---|---|
| 4 | What differs between the rows of `knee run` and `knee compare` are *factors*: columns of every table (`cc`, `rtt_ms`, `buffer_bdp`) in place of one column `scheme` with all of them in a text, and `factors` and `schemes[].levels` in JSON. A comparison of nothing but schemes keeps its column `scheme`; a scenario without a sweep has no such column. The scores of `knee predict` have the same columns in place of `case`. |
| 4 | `goodput_bps` of a run, the mean over its flows, is `flow_goodput_bps`. `goodput_bps` of a group or of a flow is all of its goodput, as before. |
| 4 | A metric that is undefined is left out of `schemes[]` and of `rows[].values`, where it was `null`. |
| 4 | `throughput_bps[<group>]` of series is payload that reached receivers for the first time, in order or not; it was payload acknowledged in order. |
";

/// The page.
pub fn page() -> String {
    let mut page = PREFACE.replace("SCHEMA_VERSION", &SCHEMA_VERSION.to_string());
    // Writing to a string cannot fail.
    for (ending, unit, words) in UNITS {
        let _ = writeln!(page, "| `_{ending}` | {unit} | {words} |");
    }
    page.push_str("\n## Documents\n\nJSON. Each has `schema_version`, too.\n");
    output::documents().for_each(|document| section(&mut page, document));
    page.push_str("\n## Tables\n\nCSV.\n");
    page.push_str(PARQUET);
    TABLES.iter().for_each(|table| section(&mut page, table));
    page.push_str("\n## Metrics\n\nThe numbers of a run, by subject. Everything in them happened inside the measurement window.\n");
    Subject::ALL.iter().for_each(|subject| metrics(&mut page, *subject));
    page.push_str(CHANGES);
    page
}

fn section(page: &mut String, output: &Output) {
    let from: Vec<String> = output.from.iter().map(|from| format!("`{from}`")).collect();
    let _ = write!(page, "\n### {}\n\n{}\n\n", output.name, from.join(", "));
    if !output.about.is_empty() {
        let _ = write!(page, "{}\n\n", output.about);
    }
    page.push_str("| key | unit | definition |\n|---|---|---|\n");
    output.parts.iter().for_each(|part| rows(page, "", part));
}

/// The rows of a part: of metrics, a reference to them.
fn rows(page: &mut String, object: &str, part: &Part) {
    let inside = |key: &str| match (object, key) {
        ("", key) => key.to_string(),
        (object, "") => object.to_string(),
        (object, key) => format!("{object}.{key}"),
    };
    let mut row = |key: String, unit: &str, about: &str| {
        let _ = writeln!(page, "| `{key}` | {unit} | {} |", about.replace('|', "\\|"));
    };
    let link = |subject: Subject| format!("[{subject}](#{subject})");
    match part {
        Part::Key(..) => {
            part.definitions(object).iter().for_each(|one| row(one.path.clone(), one.unit, &one.about))
        }
        Part::Headlines(inner) => {
            for metric in headlines() {
                let about = format!("{} An estimate.", output::of_metric(metric));
                row(inside(&format!("{inner}.{}", metric.key)), output::unit(&metric.key), &about);
            }
        }
        Part::HeadlineColumns => {
            for metric in headlines() {
                let key = format!("{}`, `{}_half_width", metric.key, metric.key);
                row(key, output::unit(&metric.key), &output::of_metric(metric));
            }
        }
        Part::Columns(subject) => {
            let axes = subject.axes();
            if !axes.is_empty() {
                row(axes.join("`, `"), "", "The labels.");
            }
            row("<metric>".to_string(), "", &format!("A column for each metric of the {}.", link(*subject)));
        }
        Part::Subjects(inner) => {
            for (name, subject) in PARTS {
                let list = inside(&format!("{inner}.{name}[]"));
                row(list.clone(), "", subject.about());
                let axes: Vec<String> = subject.axes().iter().map(|axis| format!("{list}.{axis}")).collect();
                row(axes.join("`, `"), "", "The labels.");
                row(
                    format!("{list}.<metric>"),
                    "",
                    &format!("Each metric of the {}. Estimates.", link(subject)),
                );
            }
        }
        Part::Of(inner, shape) => {
            for key in output::keys(&inside(inner), *shape) {
                let last = key.path.rsplit('.').next().unwrap_or_default();
                let estimate = if key.estimate { " An estimate." } else { "" };
                row(key.path.clone(), output::unit(last), &format!("{}{estimate}", key.about));
            }
        }
        Part::In(inner, parts) => parts.iter().for_each(|one| rows(page, &inside(inner), one)),
        Part::Series => {
            part.definitions(object).iter().for_each(|one| row(one.path.clone(), one.unit, &one.about))
        }
    }
}

fn metrics(page: &mut String, subject: Subject) {
    let _ = write!(page, "\n### {subject}\n\n{}\n\n", subject.about());
    let labels: Vec<String> = subject.axes().iter().map(|axis| format!("`{axis}`")).collect();
    if !labels.is_empty() {
        let _ = write!(page, "Labels: {}.\n\n", labels.join(", "));
    }
    for definition in subject.definitions() {
        let _ = write!(page, "{}\n\n", definition.trim_end());
    }
    page.push_str("| key | unit | definition |\n|---|---|---|\n");
    for metric in subject.metrics() {
        let Metric { key, .. } = metric;
        let _ = writeln!(
            page,
            "| `{key}` | {} | {} |",
            output::unit(key),
            output::of_metric(metric).replace('|', "\\|")
        );
    }
}
