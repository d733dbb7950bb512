// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bench: makes the runs of studies, keeps them, and says what they found out. It has clock, disk and threads, and neither a command
//! line nor a terminal: each caller holds a [`Session`](session::Session), and a process may have several.
//!
//! | room | what it does |
//! |---|---|
//! | [`failure`] | errors, with their messages and exit status |
//! | [`session`] | the state of one call: its caller, arguments and algorithms, and the request to stop |
//! | [`program`] | a program that makes calls: messages to it wait until it reads them |
//! | [`machine`] | clock, host name, kernel: the only place that reads them |
//! | [`memory`] | how much memory runs may take |
//! | [`ours`] | names of unfinished files |
//! | [`temporary`] | files and directories of random names, and leftovers of killed processes |
//! | [`files`] | atomic reads and writes |
//! | [`threads`] | parallel work within the machine's limits |
//! | [`store`] | kept runs by the hash of their inputs |
//! | [`cluster`] | runs made by the Python package on a cluster |
//! | [`means`] | the number of parallel runs, their store, and the machines that make them |
//! | [`budget`] | how many runs fit into memory, and how much each may take |
//! | [`conductor`] | runs a study: reads kept runs back, and simulates missing ones on all cores |
//! | [`forecast`] | the cost of a study |
//! | [`answer`] | the answer of a call: a document, JSON, and rows |

pub mod answer;
pub mod budget;
pub mod cluster;
pub mod conductor;
pub mod failure;
pub mod files;
pub mod forecast;
pub mod machine;
pub mod means;
pub mod memory;
pub mod ours;
pub mod program;
pub mod session;
pub mod store;
pub mod temporary;
pub mod threads;
