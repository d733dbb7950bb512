// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Max-min fair rates by progressive filling.
//!
//! D. Bertsekas, R. Gallager, "Data Networks", 2nd ed. 1992, §6.5.2: all rates rise together until a link is full;
//! flows that cross it keep their rate, and the others continue to rise.

/// Flows that cross the same links.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The links that they cross, by their place among the capacities.
    pub links: Vec<usize>,
    /// Their number.
    pub flows: u32,
}

/// The rate of a flow of each class, in the unit of `capacities`; infinite for a class that crosses no link, and, for a class
/// without flows, the rate that one additional flow would get.
pub fn rates(capacities: &[f64], classes: &[Class]) -> Vec<f64> {
    let mut rates = fill(capacities, classes);
    for empty in (0..classes.len()).filter(|place| classes[*place].flows == 0) {
        let mut one_more = classes.to_vec();
        one_more[empty].flows = 1;
        rates[empty] = fill(capacities, &one_more)[empty];
    }
    rates
}

/// The rates of classes with flows; infinite for the others.
fn fill(capacities: &[f64], classes: &[Class]) -> Vec<f64> {
    let mut rates = vec![f64::INFINITY; classes.len()];
    let mut left = capacities.to_vec();
    let mut rising: Vec<usize> = (0..classes.len()).filter(|place| classes[*place].flows > 0).collect();
    loop {
        let crosses = |place: &usize, link| classes[*place].links.contains(&link);
        let shares = (0..left.len()).filter_map(|link| {
            let crossing = rising.iter().filter(|place| crosses(place, link));
            let flows: f64 = crossing.map(|place| f64::from(classes[*place].flows)).sum();
            (flows > 0.0).then(|| (left[link].max(0.0) / flows, link))
        });
        let Some((share, full)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) else { return rates };
        for &place in rising.iter().filter(|place| crosses(place, full)) {
            rates[place] = share;
            for &link in &classes[place].links {
                left[link] -= share * f64::from(classes[place].flows);
            }
        }
        rising.retain(|place| !crosses(place, full));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(links: &[usize], flows: u32) -> Class {
        Class { links: links.to_vec(), flows }
    }

    #[test]
    fn flows_of_one_link_share_it() {
        assert_eq!(rates(&[12.0], &[class(&[0], 3), class(&[0], 1)]), [3.0, 3.0]);
    }

    #[test]
    fn a_flow_that_another_link_holds_back_leaves_its_share_to_others() {
        // A parking lot: the long flow gets 2 of the narrow link, and leaves 8 of the wide one.
        let all = [class(&[0, 1], 1), class(&[0], 1), class(&[1], 2)];
        assert_eq!(rates(&[10.0, 6.0], &all), [2.0, 8.0, 2.0]);
    }

    #[test]
    fn a_class_without_flows_has_the_rate_that_its_first_flow_would_get() {
        assert_eq!(rates(&[12.0], &[class(&[0], 0), class(&[0], 2)]), [4.0, 6.0]);
        assert_eq!(rates(&[12.0], &[class(&[], 1)]), [f64::INFINITY]);
        assert_eq!(rates(&[0.0], &[class(&[0], 1)]), [0.0]);
    }
}
