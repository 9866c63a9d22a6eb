//! Settings that are one of a few names.

/// Gives an enum its names, as settings write them. Names behind `or` are read, not written.
macro_rules! named {
    ($type:ident, $what:literal, [$($variant:ident = $name:literal $(or $alias:literal)*),+ $(,)?]) => {
        impl $type {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name, as settings write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            /// Case and blanks around the name do not matter.
            ///
            /// # Errors
            /// `core.invalid_input` for any other name; the message lists them all.
            fn from_str(name: &str) -> $crate::error::Result<Self> {
                match name.trim().to_ascii_lowercase().as_str() {
                    $($name $(| $alias)* => Ok(Self::$variant),)+
                    _ => Err($crate::error::invalid_input(
                        concat!("use the ", $what),
                        concat!("it is none of", $(" ", $name),+),
                    )
                    .next("choose one of the names listed")),
                }
            }
        }

        impl kuhaku_core::SettingValue for $type {
            const KIND: &'static str = concat!("one of", $(" ", $name),+);

            fn read(value: &kuhaku_core::Value) -> Result<Self, String> {
                let name = String::read(value)?;
                name.parse().map_err(|_| format!("must be {}", Self::KIND))
            }

            fn show(&self) -> String {
                self.as_str().into()
            }
        }
    };
}
pub(crate) use named;
