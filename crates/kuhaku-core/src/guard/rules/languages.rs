//! Languages other than English.

mod arabic;
mod chinese;
mod french;
mod german;
mod italian;
mod portuguese;
mod russian;
mod spanish;
mod turkish;

use super::table::Language;

pub(super) const ALL: [&Language; 9] = [
    &turkish::TURKISH,
    &german::GERMAN,
    &spanish::SPANISH,
    &french::FRENCH,
    &italian::ITALIAN,
    &portuguese::PORTUGUESE,
    &russian::RUSSIAN,
    &chinese::CHINESE,
    &arabic::ARABIC,
];
