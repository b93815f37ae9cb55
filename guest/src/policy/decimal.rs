//! The decimal number of a JSON text as an f64, exactly.

/// Digits behind this number are ignored; an f64 holds 17.
const DIGITS: u64 = 100_000_000_000_000_000;

/// The f64 nearest to a JSON number from 0 to 10^20, none for any other. Digits behind the eighteenth are ignored.
///
/// `str::parse` does the same for all numbers, with 17 KB of tables.
pub fn parse(number: &str) -> Option<f64> {
    let (digits, exponent) = match number.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let mut mantissa: u64 = 0;
    let mut scale = exponent;
    let mut is_fraction = false;
    for digit in digits.bytes() {
        match digit {
            b'.' => is_fraction = true,
            b'0'..=b'9' if mantissa < DIGITS => {
                mantissa = mantissa * 10 + u64::from(digit - b'0');
                scale = scale.saturating_sub(is_fraction.into());
            }
            b'0'..=b'9' => scale = scale.saturating_add((!is_fraction).into()),
            _ => return None,
        }
    }
    let power = 10u128.checked_pow(scale.unsigned_abs()).filter(|power| *power <= 10u128.pow(18))?;
    if scale >= 0 {
        return Some((u128::from(mantissa) * power) as f64);
    }
    // 64 more bits than the f64 has, the last of them for all that follow: so the conversion rounds correctly.
    let dividend = u128::from(mantissa) << 64;
    let quotient = (dividend / power) | u128::from(!dividend.is_multiple_of(power));
    Some(quotient as f64 / (1u128 << 64) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn a_number_is_read_however_it_is_written() {
        for (text, number) in [
            ("2", 2.0),
            ("2.0", 2.0),
            ("1e1", 10.0),
            ("1E+2", 100.0),
            ("15e-1", 1.5),
            ("0.0000000000000015e15", 1.5),
            ("1.00000000000000000000000000000000000001", 1.0),
            ("100000000000000000000e-18", 100.0),
        ] {
            assert_eq!(parse(text), Some(number), "{text}");
        }
    }

    #[test]
    fn a_number_just_above_a_tie_is_rounded_up() {
        for text in ["1.10222715880460298", "1.33886633923728271"] {
            assert_eq!(parse(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn a_number_far_out_of_range_is_none() {
        for text in ["-1", "1e99", "1e-99", "1e99999999999", "1e2147483647", "0.1e-2147483648"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn each_multiplier_is_read_to_its_last_digit(multiplier in 1f64..=100f64) {
            prop_assert_eq!(parse(&multiplier.to_string()), Some(multiplier));
        }

        #[test]
        fn reading_rounds_as_the_standard_library(whole in 1u32..=99, fraction in 0u64..100_000_000_000_000) {
            let text = format!("{whole}.{fraction:014}");
            prop_assert_eq!(parse(&text), text.parse().ok());
        }
    }
}
