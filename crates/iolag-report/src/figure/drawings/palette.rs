//! Colours: of series, and from little to much.

use crate::figure::scene::shapes::Paint;

/// Colours of operations, and of places of a history, in their order; those of the pages (`LIGHT.series` in web/src/figure/theme.ts).
/// After Okabe and Ito 2008, without the yellow, which white paper swallows.
pub(crate) const PALETTE: [Paint; 8] = [
    Paint::opaque(0x00, 0x72, 0xb2),
    Paint::opaque(0xd5, 0x5e, 0x00),
    Paint::opaque(0x00, 0x9e, 0x73),
    Paint::opaque(0xcc, 0x79, 0xa7),
    Paint::opaque(0xb5, 0x89, 0x00),
    Paint::opaque(0x3a, 0xa0, 0xdc),
    Paint::opaque(0x4b, 0x55, 0x63),
    Paint::opaque(0x7a, 0x4f, 0xbf),
];

/// From little to much, also for colour-blind eyes and in grey (after cividis, Nuñez et al. 2018, reversed).
const SHADES: [(u8, u8, u8); 5] =
    [(0xfd, 0xee, 0xb0), (0xd9, 0xc2, 0x5c), (0x94, 0x8e, 0x77), (0x4d, 0x55, 0x6c), (0x00, 0x22, 0x4e)];

/// The colour of a share, by its square root, so that one in a hundred is seen.
pub(crate) fn shade(share: f64) -> Paint {
    shade_at(share.clamp(0.0, 1.0).sqrt())
}

/// The colour at a place from little, 0, to much, 1.
pub(crate) fn shade_at(place: f64) -> Paint {
    let place = place.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64;
    let index = (place as usize).min(SHADES.len() - 2);
    let (from, to) = (SHADES[index], SHADES[index + 1]);
    let part = place - index as f64;
    let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8;
    Paint::opaque(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_pages_have_one_table_of_colours() {
        let theme = include_str!("../../../../../web/src/figure/theme.ts");
        let (_, light) = theme.split_once("const LIGHT").unwrap();
        let (_, series) = light.split_once("series: [").unwrap();
        let (series, _) = series.split_once(']').unwrap();
        let ours = PALETTE
            .map(|Paint { rgb: (red, green, blue), .. }| format!("\"#{red:02x}{green:02x}{blue:02x}\""));
        assert_eq!(series, ours.join(", "));
    }
}
