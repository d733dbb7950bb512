// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hunted: a network that a [hunt](crate::study::hunt) found, as an experiment with a claim and as a case of a gate.
//!
//! The claim says that the weakness is there, and [`Finding::new`] judges it as `knee reproduce` does. The case says that it is not: the
//! scheme fails it, and the reference passes.

use std::fmt::Write;

use super::{Experiment, Judgement, Pace, Reproduction, Scope, Verdict, parse_for, reproduce::Reproduce};
use crate::scenario::scheme::{self, Scheme};
use crate::scenario::{Extensions, fitting_name};
use crate::study::hunt::{Arena, Company, Contestants, Genome, Line, Weakness};
use crate::study::{Record, Records, Study, Work};
use crate::table::number;
use crate::units::Interval;

/// A finding of a hunt.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its name in files: `bbr-use-1`.
    pub id: String,
    /// The weakness.
    pub weakness: &'static Weakness,
    /// The network.
    pub genome: Genome,
    /// The mean score over its seeds.
    pub score: f64,
    /// The two numbers that the weakness compares: the scheme's and the reference's.
    pub values: [f64; 2],
    /// The claim in words.
    pub claim: String,
    /// The scenario with its claim, of at most 15 lines.
    pub text: String,
    /// The case of a gate.
    pub case: String,
    /// The verdict on the claim.
    pub verdict: Verdict,
}

/// The origin of a finding.
#[derive(Clone, Debug)]
pub struct Origin<'o> {
    /// The contestants.
    pub contestants: &'o Contestants,
    /// The profile and the seed, for readers: `profile wired, seed 1`.
    pub about: String,
    /// External algorithms that schemes may name.
    pub extensions: &'o Extensions,
}

/// Factors of claims between the scheme's number and the reference's.
const FACTORS: [f64; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8];

impl Finding {
    /// A finding on this network; none where the two numbers of a claim do not differ. A comparison may measure a
    /// weakness otherwise than its score does: it counts overflows where `premature` scores the window at one.
    /// The error names the part that the laboratory refuses.
    pub fn new(
        origin: &Origin,
        (id, weakness): (String, &'static Weakness),
        genome: &Genome,
        score: f64,
    ) -> Result<Option<Finding>, String> {
        let page = Page { origin, id: &id, weakness, genome, measure: measured(origin, weakness, genome)? };
        let judge = |check: &str, claim: &str| {
            page.judge(&page.finding(check, claim), &origin.contestants.subject.name)
        };
        let [subject, reference] = page.labels();
        let quantity = |label: &str| weakness.quantity.replace("{}", &format!("sender={label}"));
        let (ours, theirs) = (quantity(&subject), quantity(&reference));
        let first = judge(&format!("{ours} <= {theirs}"), "")?;
        let values = first.points.first().map_or([f64::NAN; 2], |point| [point.left, point.right]);
        let Some(apart) = apart(values, weakness.less) else { return Ok(None) };
        let check = format!("{ours} {apart}{theirs}");
        let claim = format!("{subject}: {}.", weakness.about);
        let judgement = judge(&check, &claim)?;
        let case = page.case(values);
        Ok(Some(Finding {
            weakness,
            genome: genome.clone(),
            score,
            values,
            text: page.finding(&check, &claim),
            claim,
            case,
            verdict: judgement.verdict,
            id,
        }))
    }
}

/// The interval that a claim is about: a mean rate's, or the subject's longest pause.
fn measured(origin: &Origin, weakness: &'static Weakness, genome: &Genome) -> Result<Interval, String> {
    let pair = weakness.company != Company::Alone;
    if !weakness.in_pause {
        return Ok(genome.rated(pair));
    }
    let arena = Arena::new(origin.contestants.clone(), vec![weakness]);
    let gauged = arena.gauged(genome, weakness.company, 1).map_err(|invalid| invalid.to_string())?;
    Ok(gauged.map_or(genome.rated(pair), |[subject, _]| subject.gap))
}

/// The comparison and the factor that a claim has between two numbers: `<= 0.5 * `; none if they are not apart. The factor is roughly the
/// geometric mean of both: a kernel must repeat that a scheme is worse, not by how much.
fn apart([ours, theirs]: [f64; 2], less: bool) -> Option<String> {
    let (small, great) = if less { (ours, theirs) } else { (theirs, ours) };
    if !less && theirs <= 0.0 {
        return (ours > 0.0).then(|| "> ".into());
    }
    let factor = FACTORS.iter().copied().find(|factor| *factor >= libm::sqrt(small / great))?;
    Some(if less { format!("<= {factor} * ") } else { format!(">= {} * ", factor.recip()) })
}

/// The parts of both texts.
struct Page<'p> {
    origin: &'p Origin<'p>,
    id: &'p str,
    weakness: &'static Weakness,
    genome: &'p Genome,
    measure: Interval,
}

impl Page<'_> {
    /// The names of the scheme and of the reference along the axis of senders: without their settings, if these are not
    /// needed to distinguish them.
    fn labels(&self) -> [String; 2] {
        let Contestants { subject, reference, .. } = self.origin.contestants;
        let bare = |name: &str| name.split(':').next().unwrap_or(name).to_string();
        match (bare(&subject.name), bare(&reference.name)) {
            (one, other) if one == other => [one, "reference".into()],
            (one, other) => [one, other],
        }
    }

    fn head(&self, title: &str, quote: &str) -> String {
        let Origin { contestants, about, .. } = self.origin;
        let Contestants { subject, reference, .. } = contestants;
        let source = format!("knee hunt {} --against {}, {about}", subject.name, reference.name);
        let quote = if quote.is_empty() { String::new() } else { format!(", quote = \"{quote}\"") };
        let mut text = format!("name = \"{}\"\n", fitting_name(title));
        let _ = writeln!(
            text,
            "experiment = {{ id = \"hunt-{}\", title = \"{title}\", source = \"{source}\"{quote} }}",
            self.id
        );
        text += &self.genome.lines(self.measure, Arena::seeds(self.genome) as usize);
        let _ = writeln!(text, "tcp = {{ preset = \"{}\" }}", contestants.host);
        text
    }

    fn flows(&self, subject: &str, rival: &str) -> String {
        let pair = self.weakness.company != Company::Alone;
        let flow = |line: Line, cc: &str| {
            format!("{{ name = \"{line}\", cc = \"{cc}\"{} }}", self.genome.fields(line, pair))
        };
        let rival = pair.then(|| format!(", {}", flow(Line::Rival, rival)));
        format!("flows = [{}{}]\n", flow(Line::Subject, subject), rival.unwrap_or_default())
    }

    /// The scenario with a claim. The axis of senders has the scheme and the reference.
    fn finding(&self, check: &str, claim: &str) -> String {
        let Contestants { subject, reference, .. } = self.origin.contestants;
        let labels = self.labels();
        let title = format!("{} against {}: {}", labels[0], labels[1], self.weakness.name);
        let mut text = self.head(&title, "");
        if let Some(feedback) = self.origin.contestants.feedback() {
            let _ = writeln!(text, "feedback = \"{feedback}\"");
        }
        text += &self.flows(&subject.name, &reference.name);
        let sender = |label: &str, cc: &str| {
            let both = self.weakness.company == Company::Itself;
            let rival = if both { format!(", \"flows.rival.cc\" = \"{cc}\"") } else { String::new() };
            format!("{{ name = \"{label}\", \"flows.subject.cc\" = \"{cc}\"{rival} }}")
        };
        let [one, other] = [sender(&labels[0], &subject.name), sender(&labels[1], &reference.name)];
        let _ = writeln!(text, "sweep = {{ sender = [{one}, {other}] }}");
        let _ = writeln!(
            text,
            "claim = [{{ id = \"{}\", text = \"{claim}\", check = \"{check}\", tolerance = \"the factor, about the middle between both numbers by ratio\" }}]",
            self.weakness.name
        );
        text
    }

    /// The case of a gate, whose threshold is the geometric mean of the two numbers.
    fn case(&self, [ours, theirs]: [f64; 2]) -> String {
        let Weakness { about, quantity, less, name, .. } = *self.weakness;
        let title = format!("Found by a hunt: {name}");
        let mut text =
            self.head(&title, &format!("Not of a document. A hunt found of {}: {about}.", self.labels()[0]));
        let Contestants { reference, .. } = self.origin.contestants;
        let rival = if self.weakness.company == Company::Itself { "subject" } else { &reference.name };
        text += &self.flows("subject", rival);
        let middle = libm::sqrt(ours.max(theirs / 100.0) * theirs.max(ours / 100.0));
        let threshold = number::significant(middle, 2);
        let sign = if less { ">=" } else { "<=" };
        let quantity = quantity.replace("[{}]", "").replace(", {}", "");
        let _ = writeln!(
            text,
            "claim = [{{ id = \"{name}\", text = \"It is not so that {about}.\", check = \"{quantity} {sign} {threshold}\", tolerance = \"between {} and {}\" }}]",
            number::significant(ours, 3),
            number::significant(theirs, 3)
        );
        text
    }

    /// Runs a text and judges its claim, for this scheme in places that it leaves open.
    fn judge(&self, text: &str, scheme: &str) -> Result<Judgement, String> {
        judged(text, scheme, self.origin.extensions)
    }
}

/// Runs a finding or a case, and judges its claim, with this scheme in its open place.
pub fn judged(text: &str, scheme: &str, extensions: &Extensions) -> Result<Judgement, String> {
    let scheme: Scheme = match extensions {
        all if *all == Extensions::NONE => scheme::parse(scheme)?,
        all => all.scheme(scheme)?,
    };
    let files = |named: &str| Err(format!("`{named}` is not opened"));
    let experiment: Experiment = parse_for(&scheme, extensions, text, Pace::Full, &files)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let runs = Reproduce {
        experiments: vec![experiment],
        pace: Pace::Full,
        scope: Scope::Taken,
        doubted: None,
        held: Vec::new(),
    };
    let mut records = Records::default();
    for wanted in runs.wanted() {
        if let Work::Packets(packets) = wanted.work {
            let (seen, outcome) = packets.run(wanted.seed);
            records.insert(wanted.name(), Record::simulated(wanted.seed, 0.0, outcome, seen));
        }
    }
    let outcomes: Vec<Reproduction> = runs.outcome(&records);
    outcomes[0].judgements().into_iter().next().ok_or_else(|| "it has no claim".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::hunt::{Step, WEAKNESSES};
    use crate::tcp::Host;

    #[test]
    fn a_comparison_measures_the_quantity_of_every_claim() {
        let contestants = Contestants::new("reno", "cubic", Host::Linux, &Extensions::NONE).unwrap();
        let origin =
            Origin { contestants: &contestants, about: String::new(), extensions: &Extensions::NONE };
        let step = Step { rate: 2000, delay: 10, lasting: 3000 };
        // With a queue on the way back, too.
        let genome = Genome { steps: vec![step], aggregation: 5000, ..Genome::plain(10) };
        for weakness in WEAKNESSES {
            let measure = genome.rated(weakness.company != Company::Alone);
            let page = Page { origin: &origin, id: "reno-1", weakness, genome: &genome, measure };
            let of = |sender: &str| weakness.quantity.replace("{}", &format!("sender={sender}"));
            let text = page.finding(&format!("{} <= {}", of("reno"), of("cubic")), "");
            let values = page.judge(&text, "reno").unwrap().points.first().map(|one| [one.left, one.right]);
            assert!(values.is_some_and(|both| both.iter().all(|value| value.is_finite())), "{text}");
            assert_ne!(
                judged(&page.case([1.0, 2.0]), "reno", &Extensions::NONE).unwrap().verdict,
                Verdict::Untestable
            );
        }
    }
}
