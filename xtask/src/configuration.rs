//! `docs/configuration.md`: every setting, from the declarations that read it.

use kuhaku_core::Field;

/// The page, relative to the root.
pub(crate) const PAGE: &str = "docs/configuration.md";

/// One section of the page.
#[derive(Clone, Debug)]
pub(crate) struct Chapter {
    name: &'static str,
    fields: Vec<Field>,
}

/// Every section of settings, in the order of the page.
pub(crate) fn chapters() -> Vec<Chapter> {
    kuhaku::settings_sections().into_iter().map(|(name, fields)| Chapter { name, fields }).collect()
}

/// The text of the page.
pub(crate) fn render(chapters: &[Chapter]) -> String {
    let mut page = String::from(INTRODUCTION);
    for chapter in chapters {
        page.push_str(&match chapter.name {
            "" => "\n## Top level\n".to_owned(),
            name => format!("\n## `{name}`\n"),
        });
        for field in &chapter.fields {
            page.push_str(&setting(chapter.name, field));
        }
    }
    page
}

const INTRODUCTION: &str = "\
# Configuration

<!-- Written by `cargo xtask update` from the declarations of the settings; edit those. -->

A setting is looked up in this order; the first place that has it wins:

1. values given by the program or on the command line,
2. the environment, in any case of letters,
3. a dotenv file whose path is given,
4. a `kuhaku.toml` whose path is given,
5. the default.

Values are checked together: one error lists everything that is wrong. An unknown `KUHAKU_…` name
is reported with the nearest known one.
";

fn setting(section: &str, field: &Field) -> String {
    let path = if section.is_empty() {
        field.name.to_owned()
    } else {
        format!("{section}.{}", field.name)
    };
    let mut text = format!("\n### `{path}`\n\n{}\n\n", field.doc);
    let rule = if field.rule.is_empty() { String::new() } else { format!(", {}", field.rule) };
    text.push_str(&format!("- Value: {}{rule}\n", field.kind));
    match field.default.as_str() {
        "" => text.push_str("- Default: none\n"),
        default => text.push_str(&format!("- Default: `{default}`\n")),
    }
    let own = format!("KUHAKU_{}", path.replace('.', "__").to_uppercase());
    let names = std::iter::once(own.as_str()).chain(field.aliases.iter().copied());
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    text.push_str(&format!("- Environment: {}\n", names.join(", ")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    kuhaku_core::settings! {
        /// Settings of tea.
        struct TeaSettings in "tea" {
            /// Cups per pot.
            cups: u32 = 4, "from 1 to 12" => |cups| (1..=12).contains(cups), alias "TEA_CUPS";
        }
    }

    kuhaku_core::settings! {
        /// Settings of the house.
        struct HouseSettings in "" {
            /// Who lives here.
            owner: Option<String> = None;
        }
    }

    fn chapter<S: kuhaku_core::Section>() -> Chapter {
        Chapter { name: S::NAME, fields: S::fields() }
    }

    #[test]
    fn a_setting_shows_its_doc_rule_default_and_every_name() {
        let page = render(&[chapter::<TeaSettings>(), chapter::<HouseSettings>()]);
        let sections = page.strip_prefix(INTRODUCTION).unwrap();
        assert_eq!(
            sections,
            "\n## `tea`\n\n### `tea.cups`\n\nCups per pot.\n\n\
             - Value: a whole number, from 1 to 12\n- Default: `4`\n\
             - Environment: `KUHAKU_TEA__CUPS`, `TEA_CUPS`\n\
             \n## Top level\n\n### `owner`\n\nWho lives here.\n\n\
             - Value: text\n- Default: none\n- Environment: `KUHAKU_OWNER`\n"
        );
    }
}
