//! National identity numbers that are digits only: how each is written, checked and announced.

use std::ops::Range;

use crate::masking::Placeholder;

use super::border::stands_alone;
use super::digits::values;
use super::id_checks::{
    is_aadhaar, is_bsn, is_cnpj, is_cpf, is_day, is_german_tax_id, is_itin, is_long_personnummer,
    is_nhs, is_personnummer, is_personnummer_of_1900s, is_pesel, is_ssn, is_tfn,
};
use super::reading::Reading;
use super::scan::Span;

/// One way of writing a number.
struct Form {
    /// Digits of each group.
    groups: &'static [usize],
    /// What stands between the groups, a byte for each gap.
    gaps: &'static str,
    check: fn(&[u32]) -> bool,
    /// Words of which one must be near. None where shape and check leave fewer than one random number
    /// in fifty.
    words: &'static [&'static str],
    /// Whether the number is told without a word where it is all that the text holds: a reply, a cell,
    /// a field of a form. False for one group of digits with one check digit or none: every tenth
    /// number of an order would do.
    alone: bool,
}

const fn form(
    groups: &'static [usize],
    gaps: &'static str,
    check: fn(&[u32]) -> bool,
    words: &'static [&'static str],
) -> Form {
    Form { groups, gaps, check, words, alone: true }
}

const fn weak(form: Form) -> Form {
    Form { alone: false, ..form }
}

const US: &[&str] = &["ssn", "ssns", "itin", "itins", "social", "taxpayer"];
const NHS: &[&str] = &["nhs"];
const BSN: &[&str] = &["bsn", "burgerservice", "sofinummer", "persoonsnummer", "citizen"];
const PESEL: &[&str] = &["pesel"];
const SWEDISH: &[&str] =
    &["personnummer", "personnr", "pnr", "samordningsnummer", "personal", "swedish"];
const CPF: &[&str] = &["cpf", "contribuinte"];
const CNPJ: &[&str] = &["cnpj"];
const AADHAAR: &[&str] = &["aadhaar", "aadhar", "adhaar", "uidai", "आधार"];
const TFN: &[&str] = &["tfn", "tfns", "tax"];

const FORMS: [Form; 37] = [
    form(&[3, 2, 4], "--", is_ssn, &[]),
    form(&[3, 2, 4], "  ", is_ssn, US),
    form(&[3, 2, 4], "..", is_ssn, US),
    form(&[3, 6], "-", is_ssn, US),
    form(&[5, 4], "-", is_ssn, US),
    weak(form(&[9], "", is_ssn, US)),
    form(&[3, 2, 4], "--", is_itin, &[]),
    form(&[3, 2, 4], "  ", is_itin, US),
    form(&[3, 6], "-", is_itin, US),
    form(&[5, 4], "-", is_itin, US),
    weak(form(&[9], "", is_itin, US)),
    form(&[3, 3, 4], "  ", is_nhs, NHS),
    form(&[3, 3, 4], "--", is_nhs, NHS),
    weak(form(&[10], "", is_nhs, NHS)),
    form(&[11], "", is_german_tax_id, &[]),
    form(&[2, 3, 3, 3], "   ", is_german_tax_id, &[]),
    weak(form(&[9], "", is_bsn, BSN)),
    form(&[4, 2, 3], "..", is_bsn, BSN),
    form(&[3, 3, 3], "  ", is_bsn, BSN),
    form(&[3, 3, 3], "..", is_bsn, BSN),
    weak(form(&[11], "", is_pesel, PESEL)),
    form(&[6, 5], " ", is_pesel, PESEL),
    form(&[6, 4], "-", is_personnummer, &[]),
    form(&[6, 4], "+", is_personnummer, &[]),
    weak(form(&[10], "", is_personnummer, SWEDISH)),
    form(&[8, 4], "-", is_long_personnummer, &[]),
    form(&[12], "", is_personnummer_of_1900s, &[]),
    form(&[12], "", is_long_personnummer, SWEDISH),
    form(&[3, 3, 3, 2], "..-", is_cpf, &[]),
    form(&[11], "", is_cpf, CPF),
    form(&[2, 3, 3, 4, 2], "../-", is_cnpj, &[]),
    form(&[14], "", is_cnpj, CNPJ),
    form(&[4, 4, 4], "  ", is_aadhaar, AADHAAR),
    form(&[4, 4, 4], "--", is_aadhaar, AADHAAR),
    weak(form(&[12], "", is_aadhaar, AADHAAR)),
    form(&[3, 3, 3], "  ", is_tfn, TFN),
    weak(form(&[9], "", is_tfn, TFN)),
];

/// Finds numbers in one of their forms that satisfy their check, beside a word that announces them
/// where the check alone is weak.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    reading.clusters().flat_map(|runs| numbers(reading, runs)).collect()
}

/// The numbers that each begin with one of these runs.
fn numbers(reading: &Reading<'_>, runs: &[Range<usize>]) -> Vec<Span> {
    let (text, words) = (reading.text(), reading.words());
    let mut found = Vec::new();
    for (first, run) in runs.iter().enumerate() {
        let fitting = FORMS.iter().filter(|form| form.groups.first() == Some(&run.len()));
        let ranges = fitting.filter_map(|form| {
            let range = written(text, runs.get(first..)?, form)?;
            let alone = || form.alone && reading.is_alone(&range) && !is_other(text, &range);
            let announced = form.words.is_empty() || alone() || words.announce(&range, form.words);
            announced.then_some((range, Placeholder::NationalId))
        });
        found.extend(ranges.max_by_key(|(range, _)| range.len()));
    }
    found
}

/// Begins with a day of this century or the last one, as moments do that are written in digits, or
/// with the trunk digit of a telephone number.
fn is_other(text: &str, range: &Range<usize>) -> bool {
    let digits = text.get(range.clone()).unwrap_or_default();
    let number = |from, to| digits.get(from..to).and_then(|part| part.parse().ok()).unwrap_or(0);
    let moment = digits.len() >= 12
        && matches!(number(0, 4), 1900..2100)
        && is_day(number(6, 8), number(4, 6));
    moment || (digits.len() == 10 && digits.starts_with('0') && !digits.starts_with("00"))
}

/// The bytes of the number that these runs begin with, if it is written in this form.
fn written(text: &str, runs: &[Range<usize>], form: &Form) -> Option<Range<usize>> {
    let groups = runs.get(..form.groups.len())?;
    if !groups.iter().map(ExactSizeIterator::len).eq(form.groups.iter().copied()) {
        return None;
    }
    let gaps = groups.iter().zip(groups.iter().skip(1)).map(|(a, b)| text.get(a.end..b.start));
    let expected = (0..form.gaps.len()).map(|at| form.gaps.get(at..=at));
    if !gaps.eq(expected) {
        return None;
    }
    let range = groups.first()?.start..groups.last()?.end;
    let valid = stands_alone(text, &range) && (form.check)(&values(text.get(range.clone())?));
    valid.then_some(range)
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn ids(text: &str) -> Vec<&str> {
        find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn strong_numbers_need_no_word() {
        for number in [
            "219-09-9999",
            "912-50-1234",
            "65929970489",
            "65 929 970 489",
            "811218-9876",
            "811218+9876",
            "19811218-9876",
            "198112189876",
            "529.982.247-25",
            "11.222.333/0001-81",
        ] {
            assert_eq!(ids(number), [number]);
            assert_eq!(ids(&format!("({number}), 12")), [number]);
        }
    }

    #[test]
    fn weak_numbers_need_a_word_nearby() {
        let cases = [
            ("social security number", "219 09 9999"),
            ("SSN", "219-099999"),
            ("SSN", "21909-9999"),
            ("ITIN", "912501234"),
            ("NHS no.", "943 476 5919"),
            ("burgerservicenummer", "111222333"),
            ("BSN:", "1112.22.333"),
            ("PESEL", "44051401359"),
            ("personnummer", "8112189876"),
            ("CPF", "52998224725"),
            ("CNPJ nº", "11222333000181"),
            ("Aadhaar", "2341 2341 2346"),
            ("आधार", "234123412346"),
            ("tax file number", "123 456 782"),
        ];
        for (word, number) in cases {
            assert_eq!(ids(&format!("{word} {number}.")), [number], "{word}");
            assert_eq!(ids(&format!("{number} ({word})")), [number], "{word}");
            assert_eq!(ids(&format!("order {number}.")), [""; 0], "{word}");
        }
    }

    #[test]
    fn a_number_alone_needs_groups_or_a_strong_check() {
        for number in [
            "219 09 9999",
            "219.09.9999",
            "943 476 5919",
            "52998224725",
            "2341-2341-2346",
            " 123 456 782\n",
        ] {
            assert_eq!(ids(number), [number.trim()], "{number}");
            assert_eq!(ids(&format!("{number}, 7")), [""; 0], "{number}");
        }
        for number in [
            "219099999",
            "123456789",
            "1700000000",
            "12345678901",
            "912501234",
            "111222333",
            "44051401359",
            "8112189876",
        ] {
            assert_eq!(ids(number), [""; 0], "{number}");
        }
    }

    #[test]
    fn a_part_of_another_number_is_no_id() {
        for text in [
            "1-219-09-9999",
            "219-09-9999-1",
            "219-09-99991",
            "x219-09-9999",
            "0.65929970489",
            "+65929970489",
            "219-09 9999",
            "202611300910",
        ] {
            assert_eq!(ids(text), [""; 0], "{text}");
        }
    }
}
