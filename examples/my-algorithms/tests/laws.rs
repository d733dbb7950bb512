// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The laws of the laboratory, tried on the algorithms of this crate.

use kneepoint::laws;
use my_algorithms::known;

#[test]
fn every_algorithm_documents_itself() {
    known().unwrap().entries().for_each(laws::documented);
}

#[test]
fn every_controller_keeps_the_laws() {
    for config in known().unwrap().controllers() {
        laws::held_to_their_range(config.name(), config);
        laws::controllers::hold(config);
    }
}

#[test]
fn every_queue_discipline_keeps_the_laws() {
    for config in known().unwrap().queues() {
        laws::held_to_their_range(config.name(), config);
        laws::queues::hold(config);
    }
}

#[test]
fn every_source_keeps_the_laws() {
    for config in known().unwrap().traffic() {
        laws::held_to_their_range(config.name(), config);
        laws::sources::hold(config);
    }
}
