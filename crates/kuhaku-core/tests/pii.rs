//! What is masked, what is left alone, and that nothing else changes.
#![cfg(feature = "pii")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::ops::Range;

use kuhaku_core::{Masker, PiiMasker, Placeholder, Recogniser, mask_field};

fn mask(text: &str) -> String {
    PiiMasker::new().mask(text).text().to_owned()
}

fn assert_masked(cases: &[(&str, &str)]) {
    for (text, masked) in cases {
        assert_eq!(mask(text), *masked, "{text}");
    }
}

fn assert_unchanged(texts: &[&str]) {
    for text in texts {
        let masked = PiiMasker::new().mask(text);
        assert_eq!(masked.text(), *text);
        assert!(masked.redactions().is_empty());
    }
}

/// PII-01
#[test]
fn mail_addresses_are_masked_and_counted() {
    let masked = PiiMasker::new().mask("Contact ahmet.yilmaz@example.com please");
    assert_eq!(masked.text(), "Contact [EMAIL] please");
    assert_eq!(masked.redactions().iter().collect::<Vec<_>>(), [("[EMAIL]", 1)]);

    let masked = PiiMasker::new().mask("mail a@b.com and a@c.com, ip 10.0.0.1");
    assert_eq!(masked.text(), "mail [EMAIL] and [EMAIL], ip [IP]");
    assert_eq!(masked.redactions().count(Placeholder::Email), 2);
    assert_eq!(masked.redactions().count(Placeholder::Ip), 1);
}

/// PII-02
#[test]
fn addresses_of_hosts_are_masked_and_times_are_not() {
    assert_masked(&[
        ("client_ip=192.168.14.87 done", "client_ip=[IP] done"),
        ("loopback is ::1 here", "loopback is [IP] here"),
        ("host fe80::1 ping", "host [IP] ping"),
        ("addr 2001:0db8:85a3:0000:0000:8a2e:0370:7334 end", "addr [IP] end"),
    ]);
    assert_unchanged(&["ip 256.1.1.1 x", "event at 2026-07-24T09:15:32Z finished at 10:02:11"]);
}

/// PII-03
#[test]
fn a_card_is_masked_without_its_separators() {
    assert_masked(&[
        ("pan 4111 1111 1111 1111 exp", "pan [CARD] exp"),
        ("pan 4111-1111-1111-1111, exp", "pan [CARD], exp"),
        ("card 4111111111111111.", "card [CARD]."),
    ]);
    assert_unchanged(&["order 1234567890123456 ref"]);
}

/// PII-04
#[test]
fn a_neighbour_never_hides_a_card() {
    assert_masked(&[
        ("amount 43 4111111111111111 end", "amount 43 [CARD] end"),
        ("4111 1111 1111 1111 12/26", "[CARD] 12/26"),
        ("kart_4111111111111111 end", "kart_[CARD] end"),
        ("4111111111111111 5500005555555559", "[CARD] [CARD]"),
    ]);
}

/// PII-05
#[test]
fn cards_of_every_length_are_masked_and_zeros_are_not() {
    assert_masked(&[
        ("amex 3782 822463 10005 x", "amex [CARD] x"),
        ("diners 30569309025904 x", "diners [CARD] x"),
    ]);
    assert_unchanged(&["code 0000000000000000 x", "code 0000 0000 0000 0000 x"]);
}

/// PII-06
#[test]
fn a_national_id_is_masked_only_with_its_check_digits() {
    assert_masked(&[("national_id 10000000146 ok", "national_id [NATIONAL_ID] ok")]);
    assert_unchanged(&["12345678901", "00000000146", "10000000145", "1000000014"]);
}

/// PII-07
#[test]
fn telephone_numbers_are_masked_in_their_groups() {
    assert_masked(&[
        ("a +90 532 123 45 67 b", "a [PHONE] b"),
        ("a 0555 987 65 43 b", "a [PHONE] b"),
        ("a (212) 555 12 34 b", "a [PHONE] b"),
        ("a +1-415-555-2671 b", "a [PHONE] b"),
        ("tel:05321234567", "tel:[PHONE]"),
    ]);
}

/// PII-08
#[test]
fn numbers_of_other_things_are_no_telephones() {
    assert_unchanged(&[
        "epoch 1700000000 ok",
        "order 123456789 ok",
        "ISBN 9780306406157 ok",
        "value 12345678901 here",
        "123e4567-e89b-12d3-a456-426614174000",
    ]);
    assert_masked(&[("call +44 20 7946 0958", "call [PHONE]")]);
}

#[test]
fn national_ids_of_many_countries_are_masked() {
    assert_masked(&[
        ("my SSN is 219-09-9999.", "my SSN is [NATIONAL_ID]."),
        ("NINO AB 12 34 56 C, NHS 943 476 5919", "NINO [NATIONAL_ID], NHS [NATIONAL_ID]"),
        ("DNI 12345678Z / NIE X1234567L", "DNI [NATIONAL_ID] / NIE [NATIONAL_ID]"),
        ("CPF 529.982.247-25 x", "CPF [NATIONAL_ID] x"),
        ("Aadhaar: 2341 2341 2346 ok", "Aadhaar: [NATIONAL_ID] ok"),
    ]);
    assert_unchanged(&["order 943 476 5919", "item 2341 2341 2346", "part 12345678A"]);
}

#[test]
fn addresses_of_currencies_are_masked() {
    assert_masked(&[
        ("pay 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa now", "pay [CRYPTO] now"),
        ("to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4.", "to [CRYPTO]."),
        ("eth 0x52908400098527886E0F7030069857D2E4169EE7", "eth [CRYPTO]"),
    ]);
}

#[test]
fn random_values_are_masked_where_a_name_says_they_are_secret() {
    assert_masked(&[
        ("api_key = \"wJalrXUtnFEMI7K4MDENGbPx\"", "api_key = \"[TOKEN]\""),
        ("password: t5Rf9Kw2Qx8Lm4Zp;", "password: [TOKEN];"),
    ]);
    assert_unchanged(&["api_key = your_api_key_goes_here_1", "id = wJalrXUtnFEMI7K4MDENGbPx"]);
}

#[derive(Debug)]
struct StaffNumbers;

impl Recogniser for StaffNumbers {
    fn id(&self) -> &str {
        "staff-1"
    }

    fn kind(&self) -> Placeholder {
        Placeholder::NationalId
    }

    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let numbers = text.match_indices("EMP-").map(|(at, _)| at..at + 9);
        let placeholders = text.match_indices("[EMAIL]").map(|(at, _)| at + 1..at + 9);
        numbers.chain(placeholders).chain([1..1, 0..usize::MAX]).collect()
    }
}

#[test]
fn a_recogniser_of_ones_own_is_added_and_never_uncovers_another_value() {
    let masker = PiiMasker::new().with(StaffNumbers);
    assert_eq!(masker.id(), "pii-4+staff-1");
    let masked = masker.mask("EMP-12345 (ｅ EMP-98765), ada@example.com here");
    assert_eq!(masked.text(), "[NATIONAL_ID] (ｅ [NATIONAL_ID]), [EMAIL] here");
    assert_eq!(masker.mask(masked.text()).text(), masked.text());
}

/// PII-09
#[test]
fn tokens_of_the_first_families_are_masked() {
    let github = format!("ghp_{}", "a1B2".repeat(8));
    for token in [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1g",
        "Bearer abc.def-ghi_123",
        "sk-ABCDEFGHIJKLMNOP1234",
        &github,
        "xoxb-1234567890-abcdefghij",
    ] {
        assert_eq!(mask(&format!("use {token} here")), "use [TOKEN] here", "{token}");
    }
}

/// PII-10
#[test]
fn vendor_keys_are_masked_entirely() {
    let open_router = format!("sk-or-v1-{}", "0123456789abcdef".repeat(4));
    let groq = format!("gsk_{}", "aB3d".repeat(11));
    let google = format!("AIza{}", "aB3_d-".repeat(6));
    let fine_grained = format!("github_pat_{}_{}", "11ABCDEFG0".repeat(2), "a1B2c3".repeat(9));
    for token in [
        "sk-proj-ABCDEFGHIJKLMNOPQRSTUVWX",
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx",
        &open_router,
        "sk_live_ABCDEFGHIJKLMNOPQRST",
        &groq,
        "AKIAIOSFODNN7EXAMPLE",
        &google,
        &fine_grained,
        "Bearer abc/def+ghi==",
    ] {
        assert_eq!(mask(&format!("key={token}, x")), "key=[TOKEN], x", "{token}");
    }
}

/// PII-11
#[test]
fn account_numbers_are_masked_in_any_writing() {
    assert_masked(&[
        ("iban TR330006100519786457841326 ok", "iban [IBAN] ok"),
        ("iban TR33 0006 1005 1978 6457 8413 26 ok", "iban [IBAN] ok"),
        ("iban tr330006100519786457841326 ok", "iban [IBAN] ok"),
    ]);
    assert_unchanged(&["iban TR000000000000000000000000 ok"]);
}

/// PII-12
#[test]
fn versions_paths_and_ratios_stay_and_foreign_addresses_go() {
    assert_unchanged(&[
        "version 1.2.3.4 released",
        "use dead::beef now",
        "a::b",
        "ratio 1:2:3:4 x",
    ]);
    assert_masked(&[("mail ömer@örnek.com x", "mail [EMAIL] x")]);
}

/// PII-13
#[test]
fn clean_text_is_returned_as_it_is_and_full_width_digits_are_read() {
    assert_unchanged(&["", "The payment was declined due to insufficient funds (PAY-1001)."]);
    assert_masked(&[
        ("kart ４１１１１１１１１１１１１１１１ son", "kart [CARD] son"),
        ("ｍａｉｌ ａ＠ｂ．ｃｏｍ", "ｍａｉｌ [EMAIL]"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "[CARD]"),
        ("41\u{ad}11\u{a0}1111 1111\u{200b} 1111!", "[CARD]!"),
    ]);
}

#[test]
fn numbers_are_masked_however_their_groups_are_parted() {
    for parted in [
        "4111.1111.1111.1111",
        "4111_1111_1111_1111",
        "4111\t1111\t1111\t1111",
        "4111  1111  1111  1111",
        "4111\u{2009}1111\u{2011}1111\u{2013}1111",
        "4111 1111\n1111 1111",
        "4111 1111\r\n    1111 1111",
        "4111 1111\n> 1111 1111",
        "4111 1111 *1111* 1111",
        "4111 1111 11`1`1 __1111",
    ] {
        assert_eq!(mask(&format!("pan {parted} exp")), "pan [CARD] exp", "{parted}");
    }
    assert_masked(&[
        ("iban TR33 0006 1005\n1978 6457 8413 26 ok", "iban [IBAN] ok"),
        ("iban TR33 0006 **1005** 1978 6457 8413 26 ok", "iban [IBAN] ok"),
        ("iban TR33.0006.1005.1978.6457.8413.26.", "iban [IBAN]."),
        ("tckn 100 000 001 46, 100-000-\n001-46", "tckn [NATIONAL_ID], [NATIONAL_ID]"),
        ("12\n4111 1111 1111 1111\n26", "12\n[CARD]\n26"),
    ]);
    assert_unchanged(&[
        "4111\n1111\n1111\n1111",
        "4111 1111\n\n1111 1111",
        "4111.1111 1111.1111",
        "| 4111 | 1111 | 1111 | 1111 |",
        "is 20 words\nof a sentence that could be read as one",
    ]);
}

#[test]
fn an_address_of_a_host_is_masked_before_any_word() {
    assert_masked(&[
        ("see 192.168.77.77.md", "see [IP].md"),
        ("10.1.2.3.log, host-10.1.2.3", "[IP].log, host-[IP]"),
        ("10.1.2.3:8080 10.1.2.3/24", "[IP]:8080 [IP]/24"),
    ]);
    assert_unchanged(&["version 1.2.3.4", "v1.2.3.4", "1.2.3.4.5"]);
}

#[test]
fn escaped_and_emphasised_mail_addresses_are_masked() {
    assert_masked(&[
        ("?to=ayse%40example.com&x", "?to=[EMAIL]&x"),
        ("ayse&#64;example.com; ayse&#x40;example.com", "[EMAIL]; [EMAIL]"),
        ("ayse&commat;example.com.", "[EMAIL]."),
        ("to ayse.head**x**@example.com", "to [EMAIL]"),
        ("**ayse@example.com** or `ayse`@example.com", "**[EMAIL]** or `[EMAIL]"),
    ]);
}

#[test]
fn credentials_are_masked_in_headers_fields_and_addresses() {
    assert_masked(&[
        ("bearer:abc123def456ghi789", "[TOKEN]"),
        ("Bearer\nabcdef0123456789abcdef", "[TOKEN]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: [TOKEN]"),
        ("see https://user:pass@host/", "see https://[TOKEN]@host/"),
        ("https://user:p!ss@example.com", "https://[TOKEN]@example.com"),
    ]);
}

#[test]
fn joined_values_leave_no_part_behind() {
    assert_masked(&[
        ("postgres://app:pa55w0rd@db.example.com/x", "postgres://[TOKEN]@db.example.com/x"),
        ("https://x:sk-ABCDEFGHIJKLMNOP1234@host.io/y", "https://[TOKEN]@host.io/y"),
        ("Bearer a.bc1234d@host.com", "[EMAIL]"),
        ("a@b.com4111111111111111", "[EMAIL]"),
        ("10.0.0.1,10000000146,4111111111111111", "[IP],[NATIONAL_ID],[CARD]"),
        ("a@b.com:10.0.0.1", "[EMAIL]:[IP]"),
    ]);
}

#[test]
fn placeholders_are_never_touched() {
    let all: Vec<&str> = Placeholder::ALL.iter().map(|p| p.as_str()).collect();
    assert_unchanged(&[
        &all.join(" "),
        &all.concat(),
        &all.join("@"),
        &all.join("1"),
        &all.join(":"),
    ]);
}

#[test]
fn the_masker_names_its_version() {
    assert_eq!(PiiMasker::new().id(), "pii-4");
}

#[test]
fn the_name_of_a_field_says_what_its_value_is() {
    let masker = PiiMasker::new();
    for (name, value, masked) in [
        ("phone", "4155552671", "[PHONE]"),
        ("order", "4155552671", "4155552671"),
        ("contact", "ada@example.com, by day", "[EMAIL], by day"),
        ("password", "correct-horse-42-battery", "[TOKEN]"),
        ("note", "plain", "plain"),
        ("a@b.com", "4111 1111 1111 1111", "[CARD]"),
        ("", "", ""),
    ] {
        let (shown, redactions) = mask_field(&masker, name, value);
        assert_eq!(shown, masked, "{name}: {value}");
        assert_eq!(redactions.total(), usize::from(shown != value), "{name}: {value}");
    }
}

#[test]
fn separators_that_are_escaped_or_invisible_do_not_hide_a_second_value() {
    for (first, a) in [
        ("203.0.113.7", "[IP]"),
        ("4111 1111 1111 1111", "[CARD]"),
        ("10000000146", "[NATIONAL_ID]"),
    ] {
        for (second, b) in [
            ("192.0.2.44", "[IP]"),
            ("5500-0000-0000-0004", "[CARD]"),
            ("DE89370400440532013000", "[IBAN]"),
            ("bob@example.com", "[EMAIL]"),
        ] {
            for join in ["%20", "%2C", "%0A", "\\n", "\\t", "\u{200b}", "\u{feff}"] {
                let masked = mask(&format!("x {first}{join}{second} y"));
                // An address of mail may take what stands in front of it.
                let raw = [first, second].into_iter().find(|value| masked.contains(value));
                assert_eq!(raw, None, "{masked:?}");
                assert!(masked.starts_with("x [") && masked.ends_with("] y"), "{masked:?}");
                // What cannot be seen may go with the values around it.
                if b != "[EMAIL]" && join.is_ascii() {
                    assert_eq!(masked, format!("x {a}{join}{b} y"));
                }
            }
        }
    }
    assert_eq!(mask("to=a%3Fpassword%3DaB3xY9kL2mN5pQ7r"), "to=a%3Fpassword%3D[TOKEN]");
    // And they may still stand inside of a value.
    assert_eq!(mask("ada%40example.com"), "[EMAIL]");
    assert_eq!(mask("4111\u{200b}1111\u{200b}1111\u{200b}1111"), "[CARD]");
}
