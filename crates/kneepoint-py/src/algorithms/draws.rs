// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The random stream of a run, lent to Python for the calls that may draw.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kneepoint::rng::Rng;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Random numbers of the run: the same for the same seed. They can be drawn in `on_ack`, `on_arrival`, `on_departure` and `on`.
#[pyclass(frozen, name = "Rng", module = "kneepoint._native")]
#[derive(Debug, Default)]
pub struct Draws(Mutex<Option<Rng>>);

impl Draws {
    /// Lends the stream.
    pub fn lend(&self, rng: &Rng) {
        *self.lock() = Some(rng.clone());
    }

    /// Takes it back.
    pub fn give_back(&self, rng: &mut Rng) {
        if let Some(drawn) = self.lock().take() {
            *rng = drawn;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Rng>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> PyResult<T> {
        self.lock().as_mut().map(draw).ok_or_else(|| {
            PyRuntimeError::new_err(
                "random numbers are drawn in on_ack, on_arrival, on_departure and on: nowhere else",
            )
        })
    }
}

#[pymethods]
impl Draws {
    /// A number from 0 to 1, without 1.
    fn uniform(&self) -> PyResult<f64> {
        self.draw(Rng::uniform)
    }

    /// Whether an event of probability `p` happens.
    fn chance(&self, p: f64) -> PyResult<bool> {
        self.draw(|rng| rng.chance(p))
    }

    /// A number between two.
    fn between(&self, least: f64, most: f64) -> PyResult<f64> {
        self.draw(|rng| rng.between(least, most))
    }

    /// An exponential with this mean.
    fn exponential(&self, mean: f64) -> PyResult<f64> {
        self.draw(|rng| rng.exponential(mean))
    }

    /// A Pareto of this mean and shape, above 1.
    fn pareto(&self, mean: f64, shape: f64) -> PyResult<f64> {
        self.draw(|rng| rng.pareto(mean, shape))
    }

    /// A copy continues independently.
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Draws {
        Draws(Mutex::new(self.lock().clone()))
    }
}
