//! The checks of national identity numbers that are digits only.
//!
//! Each takes the digits of a number of the right length and says whether its own rules hold.

use super::digits::luhn;

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

fn number(digits: &[u32], from: usize, count: usize) -> u32 {
    digits.iter().skip(from).take(count).fold(0, |sum, digit| sum * 10 + digit)
}

fn all_equal(digits: &[u32]) -> bool {
    digits.iter().all(|digit| digits.first() == Some(digit))
}

/// A day of a month; the year is not known.
pub(super) fn is_day(day: u32, month: u32) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// United States, Social Security number: area 001 to 899 but 666, group and serial not zero (SSA,
/// randomisation of 2011).
pub(super) fn is_ssn(digits: &[u32]) -> bool {
    let (area, group, serial) = (number(digits, 0, 3), number(digits, 3, 2), number(digits, 5, 4));
    (1..900).contains(&area) && area != 666 && group > 0 && serial > 0
}

/// United States, taxpayer number: begins with 9, and the fourth and fifth digit lie in the ranges in
/// use (IRS, publication 1915).
pub(super) fn is_itin(digits: &[u32]) -> bool {
    digits.first() == Some(&9)
        && matches!(number(digits, 3, 2), 50..=65 | 70..=88 | 90..=92 | 94..=99)
}

/// United Kingdom, NHS number: weights 10 to 2, modulo 11.
pub(super) fn is_nhs(digits: &[u32]) -> bool {
    let check = 11 - weighted(digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    !all_equal(digits) && digits.last() == Some(&(check % 11)) && check != 10
}

/// Germany, tax identification number: ISO 7064 MOD 11,10; of the first ten digits one stands twice
/// or three times, the others once at most.
pub(super) fn is_german_tax_id(digits: &[u32]) -> bool {
    let Some((check, first_ten)) = digits.split_last() else {
        return false;
    };
    let count = |value: u32| first_ten.iter().filter(|digit| **digit == value).count();
    let repeated: Vec<usize> = (0..10).map(count).filter(|times| *times > 1).collect();
    let product = first_ten.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    first_ten.first() != Some(&0)
        && matches!(repeated.as_slice(), [2 | 3])
        && (11 - product) % 10 == *check
}

/// Netherlands, citizen service number: weights 9 to 2 and -1, modulo 11.
pub(super) fn is_bsn(digits: &[u32]) -> bool {
    let sum = weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2]);
    let last = digits.last().copied().unwrap_or_default();
    !all_equal(digits) && sum % 11 == last
}

/// Poland, PESEL: a date whose month tells the century, weights 1, 3, 7, 9, modulo 10.
pub(super) fn is_pesel(digits: &[u32]) -> bool {
    let sum = weighted(digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    is_day(number(digits, 4, 2), number(digits, 2, 2) % 20) && sum.is_multiple_of(10)
}

/// Sweden, personal or coordination number of ten digits: a date (the day of the latter is 60
/// higher), then Luhn's check.
pub(super) fn is_personnummer(digits: &[u32]) -> bool {
    let day = number(digits, 4, 2);
    let day = if day > 60 { day - 60 } else { day };
    is_day(day, number(digits, 2, 2)) && luhn(digits)
}

/// The same with the century in front.
pub(super) fn is_long_personnummer(digits: &[u32]) -> bool {
    matches!(number(digits, 0, 2), 18..=20) && is_personnummer(digits.get(2..).unwrap_or_default())
}

/// The same for those born in the twentieth century, who are not taken for a time of day today.
pub(super) fn is_personnummer_of_1900s(digits: &[u32]) -> bool {
    number(digits, 0, 2) == 19 && is_long_personnummer(digits)
}

/// Brazil: a check digit over all digits before it, modulo 11, in which ten counts as zero.
fn brazilian(digits: &[u32], count: usize, weights: &[u32]) -> bool {
    let rest = weighted(digits, weights) * 10 % 11 % 10;
    digits.get(count) == Some(&rest)
}

/// Brazil, CPF: two check digits.
pub(super) fn is_cpf(digits: &[u32]) -> bool {
    !all_equal(digits)
        && brazilian(digits, 9, &[10, 9, 8, 7, 6, 5, 4, 3, 2])
        && brazilian(digits, 10, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
}

/// Brazil, CNPJ: two check digits.
pub(super) fn is_cnpj(digits: &[u32]) -> bool {
    !all_equal(digits)
        && brazilian(digits, 12, &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
        && brazilian(digits, 13, &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
}

/// India, Aadhaar: the first digit is 2 to 9, the last one is Verhoeff's check.
pub(super) fn is_aadhaar(digits: &[u32]) -> bool {
    digits.first().is_some_and(|first| *first >= 2) && verhoeff(digits) == 0
}

/// Verhoeff's check (1969): products in the dihedral group of ten elements of the digits from the
/// right, each permuted as often as its place says.
fn verhoeff(digits: &[u32]) -> u32 {
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    digits.iter().rev().enumerate().fold(0, |product, (place, digit)| {
        let permute = |digit: u32, _| PERMUTATION.get(digit as usize).copied().unwrap_or(digit);
        dihedral(product, (0..place % 8).fold(*digit, permute))
    })
}

/// Rotations are 0 to 4, reflections 5 to 9.
fn dihedral(a: u32, b: u32) -> u32 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

/// Australia, tax file number: weighted sum modulo 11.
pub(super) fn is_tfn(digits: &[u32]) -> bool {
    !all_equal(digits) && weighted(digits, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
}

#[cfg(test)]
mod tests {
    use super::super::digits::values;
    use super::*;

    type Check = fn(&[u32]) -> bool;

    #[test]
    fn each_check_tells_right_numbers_from_wrong_ones() {
        let cases: [(Check, &str, &[&str]); 11] = [
            (is_ssn, "219099999", &["000123456", "666123456", "900123456", "219009999"]),
            (is_itin, "912501234", &["812501234", "912661234", "912931234"]),
            (is_nhs, "9434765919", &["9434765918", "1111111111"]),
            (is_german_tax_id, "65929970489", &["65929970488", "12345678903", "11111111111"]),
            (is_bsn, "111222333", &["111222334", "000000000"]),
            (is_pesel, "44051401359", &["44051401358", "44131401359"]),
            (is_personnummer, "8112189876", &["8112189875", "8113189876"]),
            (is_cpf, "52998224725", &["52998224724", "11111111111"]),
            (is_cnpj, "11222333000181", &["11222333000182", "00000000000000"]),
            (is_aadhaar, "234123412346", &["234123412347", "134123412346"]),
            (is_tfn, "123456782", &["123456789", "000000000"]),
        ];
        for (check, right, wrong) in cases {
            assert!(check(&values(right)), "{right}");
            for wrong in wrong {
                assert!(!check(&values(wrong)), "{wrong}");
            }
        }
        assert!(is_long_personnummer(&values("198112189876")));
        assert!(is_personnummer_of_1900s(&values("198112189876")));
    }
}
