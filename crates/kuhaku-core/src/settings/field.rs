//! How a crate declares its settings.

use crate::error::Result;
use crate::settings::problem::Problems;
use crate::settings::sources::Sources;

/// One documented setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the section.
    pub name: &'static str,
    /// What a person should write.
    pub kind: &'static str,
    /// The rule that values obey, in words; empty when the kind says all.
    pub rule: &'static str,
    /// The default as a person would write it; empty for none.
    pub default: String,
    /// What it does.
    pub doc: String,
    /// Environment names beside the section's own, tried after it.
    pub aliases: &'static [&'static str],
}

impl Field {
    /// A field without rule, documentation or aliases.
    pub fn new(name: &'static str, kind: &'static str, default: String) -> Self {
        Self { name, kind, rule: "", default, doc: String::new(), aliases: &[] }
    }
}

/// A crate's settings: their names, defaults, rules and documentation in one place. Implemented by
/// [`crate::settings!`].
pub trait Section: Sized + Default {
    /// The section's name in `kuhaku.toml` and, upper-cased and followed by `__`, in environment
    /// names; empty for the top level.
    const NAME: &'static str;

    /// Every setting of the section.
    fn fields() -> Vec<Field>;

    /// Reads the section and notes what is wrong; wrong values keep their default.
    fn read(sources: &Sources, problems: &mut Problems) -> Self;

    /// Notes the values that break a rule.
    fn check(&self, problems: &mut Problems);

    /// Reads and checks the section.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidSettings`] listing every value that is wrong.
    fn load(sources: &Sources) -> Result<Self> {
        let mut problems = Problems::default();
        let section = Self::read(sources, &mut problems);
        section.check(&mut problems);
        problems.into_result()?;
        Ok(section)
    }

    /// Checks values that a program has set.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidSettings`] listing every value that is wrong.
    fn validate(&self) -> Result<()> {
        let mut problems = Problems::default();
        self.check(&mut problems);
        problems.into_result()
    }

    /// The section's path of a field: `rag.top_k`.
    fn path(field: &str) -> String {
        if Self::NAME.is_empty() { field.into() } else { format!("{}.{field}", Self::NAME) }
    }
}

/// Declares a section of settings: a struct with a [`Section`] implementation.
///
/// Each field has a doc comment, a type, a default, and by choice a rule in words with its test and
/// environment aliases. A closure after the fields checks what concerns more than one.
///
/// ```
/// use kuhaku_core::{Section, Sources};
///
/// kuhaku_core::settings! {
///     /// Settings of tea.
///     pub struct TeaSettings in "tea" {
///         /// Cups per pot.
///         cups: u32 = 4, "from 1 to 12" => |cups| (1..=12).contains(cups);
///         /// Minutes to draw.
///         minutes: f64 = 3.5;
///     }
///     check |tea, problems| {
///         if tea.minutes < 1.0 && tea.cups > 8 {
///             problems.add("tea.minutes", "must be at least 1 for more than 8 cups");
///         }
///     }
/// }
/// let sources = Sources::new().env([("KUHAKU_TEA__CUPS", "6")]);
/// assert_eq!(TeaSettings::load(&sources)?.cups, 6);
/// let sources = Sources::new().env([("KUHAKU_TEA__CUPS", "0"), ("kuhaku_tea__minutes", "x")]);
/// let error = TeaSettings::load(&sources).unwrap_err().to_string();
/// assert!(error.contains("tea.cups must be from 1 to 12"), "{error}");
/// assert!(error.contains("tea.minutes must be a number"), "{error}");
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in $section:literal {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $type:ty = $default:expr
                $(, $rule:literal => |$value:ident| $test:expr)?
                $(, alias $($alias:literal)+)?
                ;
            )*
        }
        $(check |$this:ident, $problems:ident| $check:block)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        $vis struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::Section for $name {
            const NAME: &'static str = $section;

            fn fields() -> Vec<$crate::Field> {
                let defaults = Self::default();
                vec![$({
                    #[allow(unused_mut, reason = "a field may have neither rule nor alias")]
                    let mut field = $crate::Field::new(
                        stringify!($field),
                        <$type as $crate::SettingValue>::KIND,
                        <$type as $crate::SettingValue>::show(&defaults.$field),
                    );
                    field.doc = [$($doc),+].map(str::trim).join(" ");
                    $( field.rule = $rule; )?
                    $( field.aliases = &[$($alias),+]; )?
                    field
                }),*]
            }

            fn read(sources: &$crate::Sources, problems: &mut $crate::Problems) -> Self {
                let mut section = Self::default();
                $(
                    if let Some(value) = sources.value(
                        &<Self as $crate::Section>::path(stringify!($field)),
                        &[$($($alias),+)?],
                    ) {
                        match <$type as $crate::SettingValue>::read(&value) {
                            Ok(value) => section.$field = value,
                            Err(wrong) => problems.add(
                                &<Self as $crate::Section>::path(stringify!($field)),
                                sources.blame(&value, &wrong),
                            ),
                        }
                    }
                )*
                section
            }

            fn check(&self, problems: &mut $crate::Problems) {
                $($(
                    let test: fn(&$type) -> bool = |$value| $test;
                    if !test(&self.$field) {
                        problems.add(
                            &<Self as $crate::Section>::path(stringify!($field)),
                            concat!("must be ", $rule),
                        );
                    }
                )?)*
                $(
                    let $this = self;
                    let $problems = &mut *problems;
                    $check
                )?
                let _ = problems;
            }
        }
    };
}
