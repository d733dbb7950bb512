// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What asks the network for work: bulk transfers, web sessions, datagrams at a constant rate.

pub mod cbr;
pub mod web;
