//! Hartigan's dip: how far a sample is from having a single mode (Hartigan and Hartigan 1985).
//!
//! The dip is the greatest distance between the empirical distribution and the unimodal distribution that is
//! closest to it. Starting from the whole sample, the greatest convex minorant and the least concave majorant
//! are drawn; where they are furthest apart lies the modal interval, outside of which the sample's distance
//! to minorant and majorant is taken; then the same within the interval, until nothing greater is found.
//!
//! Its significance is judged against uniform samples, the least favourable unimodal ones: for a log-normal
//! sample the test is on the safe side.

/// Critical values of √n · dip at 1 %, by n: 8000 to 40000 simulated uniform samples each.
const CRITICAL: [(f64, f64); 10] = [
    (10.0, 0.5046),
    (15.0, 0.5268),
    (20.0, 0.5397),
    (30.0, 0.5519),
    (50.0, 0.5731),
    (100.0, 0.5909),
    (200.0, 0.6056),
    (500.0, 0.6087),
    (1000.0, 0.6164),
    (5000.0, 0.6275),
];

/// The dip of ascending values, 0 to 1/4; 0 for fewer than two.
pub fn dip_statistic(sorted: &[f64]) -> f64 {
    let count = sorted.len();
    if count < 2 || sorted[0] == sorted[count - 1] {
        return 0.0;
    }
    // Everything is counted in observations; distances are doubled until the end.
    let (mut low, mut high) = (0, count - 1);
    let mut dip = 1.0_f64;
    while low < high {
        let minorant = hull(sorted, low, high, Hull::ConvexMinorant);
        let majorant = hull(sorted, low, high, Hull::ConcaveMajorant);
        let (distance, inner_low, inner_high) = furthest_apart(sorted, &minorant, &majorant);
        if distance <= dip {
            break;
        }
        let below = distance_to_minorant(sorted, &minorant, inner_low);
        let above = distance_to_majorant(sorted, &majorant, inner_high);
        dip = dip.max(below).max(above);
        if (inner_low, inner_high) == (low, high) {
            break;
        }
        (low, high) = (inner_low, inner_high);
    }
    dip / (2.0 * count as f64)
}

/// The dip that one in a hundred unimodal samples of so many independent values exceeds at most.
pub fn dip_critical(independent: f64) -> f64 {
    let n = independent.max(1.0);
    let last = CRITICAL.len() - 1;
    let above = CRITICAL.partition_point(|entry| entry.0 < n);
    let scaled = match above {
        0 => CRITICAL[0].1,
        above if above > last => CRITICAL[last].1,
        above => {
            // Linear in 1/√n, in which the expansion of the distribution is.
            let (from, to) = (CRITICAL[above - 1], CRITICAL[above]);
            let place = |n: f64| 1.0 / n.sqrt();
            let part = (place(n) - place(from.0)) / (place(to.0) - place(from.0));
            from.1 + part * (to.1 - from.1)
        }
    };
    scaled / n.sqrt()
}

#[derive(Clone, Copy, PartialEq)]
enum Hull {
    ConvexMinorant,
    ConcaveMajorant,
}

/// Indices of the vertices of the hull of the points (value, index) from `low` to `high`.
fn hull(sorted: &[f64], low: usize, high: usize, which: Hull) -> Vec<usize> {
    let mut vertices: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., before, last] = vertices[..] {
            // Does the way over `last` bend to the wrong side? Multiplied out, so that equal values need no
            // division.
            let rise = (last - before) as f64 * (sorted[next] - sorted[last]);
            let next_rise = (next - last) as f64 * (sorted[last] - sorted[before]);
            let bends = match which {
                Hull::ConvexMinorant => rise >= next_rise,
                Hull::ConcaveMajorant => rise <= next_rise,
            };
            if !bends {
                break;
            }
            vertices.pop();
        }
        vertices.push(next);
    }
    vertices
}

/// Height at `value` of the chord from vertex `from` to vertex `to`.
fn chord(sorted: &[f64], from: usize, to: usize, value: f64) -> f64 {
    let width = sorted[to] - sorted[from];
    if width <= 0.0 {
        return to as f64;
    }
    from as f64 + (to - from) as f64 * (value - sorted[from]) / width
}

/// The greatest distance between majorant and minorant, and the modal interval that it gives. The
/// distribution jumps at each value, so the distance is one more than that of the hulls.
fn furthest_apart(sorted: &[f64], minorant: &[usize], majorant: &[usize]) -> (f64, usize, usize) {
    let mut best = (1.0, minorant[0], majorant[majorant.len() - 1]);
    // At a vertex of the minorant, the majorant's vertices around it.
    let mut right = 1;
    for &vertex in minorant {
        while right + 1 < majorant.len() && majorant[right] < vertex {
            right += 1;
        }
        let height = chord(sorted, majorant[right - 1], majorant[right], sorted[vertex]);
        let distance = height - vertex as f64 + 1.0;
        if distance > best.0 {
            best = (distance, vertex, majorant[right].max(vertex));
        }
    }
    let mut left = 0;
    for &vertex in majorant {
        while left + 2 < minorant.len() && minorant[left + 1] <= vertex {
            left += 1;
        }
        let height = chord(sorted, minorant[left], minorant[left + 1], sorted[vertex]);
        let distance = vertex as f64 - height + 1.0;
        if distance > best.0 {
            best = (distance, minorant[left].min(vertex), vertex);
        }
    }
    best
}

fn distance_to_minorant(sorted: &[f64], minorant: &[usize], until: usize) -> f64 {
    let mut greatest = 1.0_f64;
    for segment in minorant.windows(2).take_while(|segment| segment[1] <= until) {
        if sorted[segment[1]] > sorted[segment[0]] {
            for index in segment[0]..=segment[1] {
                let height = chord(sorted, segment[0], segment[1], sorted[index]);
                greatest = greatest.max((index + 1) as f64 - height);
            }
        }
    }
    greatest
}

fn distance_to_majorant(sorted: &[f64], majorant: &[usize], from: usize) -> f64 {
    let mut greatest = 1.0_f64;
    for segment in majorant.windows(2).filter(|segment| segment[0] >= from) {
        if sorted[segment[1]] > sorted[segment[0]] {
            for index in segment[0]..=segment[1] {
                let height = chord(sorted, segment[0], segment[1], sorted[index]);
                greatest = greatest.max(height - (index as f64 - 1.0));
            }
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_far_points_have_the_greatest_dip_and_even_ones_the_least() {
        let two: Vec<f64> = (0..100).map(|index| f64::from(index / 50) + f64::from(index) * 1e-9).collect();
        assert!((dip_statistic(&two) - 0.25).abs() < 0.01, "{}", dip_statistic(&two));
        let even: Vec<f64> = (0..100).map(f64::from).collect();
        assert!((dip_statistic(&even) - 1.0 / 200.0).abs() < 1e-12);
        assert_eq!(dip_statistic(&[1.0, 1.0]), 0.0);
    }

    #[test]
    fn critical_values_fall_with_the_number() {
        let values = [5.0, 10.0, 25.0, 300.0, 1e5].map(dip_critical);
        assert!(values.is_sorted_by(|left, right| left > right), "{values:?}");
        assert!((dip_critical(100.0) - 0.05909).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_dip_does_not_depend_on_place_scale_and_direction(
            mut values in prop::collection::vec(-1000_i32..1000, 2..120), shift in -5_i32..5, scale in 1_i32..5,
        ) {
            values.sort_unstable();
            let plain: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let moved: Vec<f64> = values.iter().map(|value| f64::from(value * scale + shift)).collect();
            let turned: Vec<f64> = values.iter().rev().map(|value| -f64::from(*value)).collect();
            let dip = dip_statistic(&plain);
            prop_assert!((dip_statistic(&moved) - dip).abs() < 1e-9);
            prop_assert!((dip_statistic(&turned) - dip).abs() < 1e-9);
            prop_assert!(dip <= 0.25 + 1e-12);
        }
    }
}
