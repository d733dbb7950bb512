// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bench: makes the runs of studies, keeps them, and says what they found out. It has clock, disk and threads, and neither a command
//! line nor a terminal: each caller holds a [`Session`](session::Session), and a process may have several.
//!
//! | room | what it does |
//! |---|---|
//! | [`failure`] | errors, with their messages and exit status |
//! | [`session`] | what a call has of its own: who makes it, their words and algorithms, the request to stop |
//! | [`program`] | a program that makes calls: what is said to it waits until it takes it |
//! | [`machine`] | clock, host name, kernel: the only place that reads them |
//! | [`memory`] | how much memory runs may take |
//! | [`ours`] | names of what is ours until it is finished |
//! | [`temporary`] | files and directories of random names, and what killed processes left of them |
//! | [`files`] | atomic reads and writes |
//! | [`threads`] | work side by side, within the machine's limits |
//! | [`store`] | kept runs by the hash of their inputs |
//! | [`cluster`] | runs made by the Python package on a cluster |
//! | [`means`] | how many runs side by side, where they are kept, and who makes them |
//! | [`budget`] | how many runs fit into memory, and how much each may take |
//! | [`conductor`] | runs a study: reads kept runs back, simulates what is missing on all cores |
//! | [`forecast`] | what a study would cost |
//! | [`answer`] | what a call found out: a document, JSON, and rows |

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
