// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Suspects that nothing in a capture tells apart.

use super::follow::Moment;
use super::suspects::Suspect;

/// Suspects that expect the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The members, by versions in the order of the candidates.
    pub suspects: Vec<Suspect>,
    /// The error.
    pub error: f64,
    /// The likelihood, of one that all classes share.
    pub likelihood: f64,
    /// What they expect.
    pub moments: Vec<Moment>,
    /// Whether they draw random numbers.
    pub draws: bool,
}

impl Class {
    /// The names of its controllers, each once.
    pub fn names(&self) -> Vec<&'static str> {
        once(self.suspects.iter().map(Suspect::name))
    }

    /// Whether they have a controller in common, maybe in different versions.
    pub fn overlaps(&self, other: &Class) -> bool {
        self.names().iter().any(|name| other.names().contains(name))
    }

    /// The names that another class has not.
    pub(super) fn beyond(&self, other: &Class) -> Vec<&'static str> {
        let known = other.names();
        self.names().into_iter().filter(|name| !known.contains(name)).collect()
    }

    /// The first of them, which stands for all.
    pub fn first(&self) -> Option<&Suspect> {
        self.suspects.first()
    }
}

/// The best class that has another controller than the first.
pub(super) fn rival(classes: &[Class]) -> Option<&Class> {
    classes.iter().find(|class| !class.beyond(&classes[0]).is_empty())
}

/// The names of classes, each once.
pub(super) fn names<'c>(classes: impl Iterator<Item = &'c Class>) -> Vec<&'static str> {
    once(classes.flat_map(Class::names))
}

/// Each once, in order.
fn once(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}
