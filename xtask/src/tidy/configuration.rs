//! `docs/configuration.md` is what the declarations of the settings say.

use std::path::Path;

use crate::configuration::{PAGE, chapters, render};
use crate::error::Result;
use crate::files;
use crate::tidy::Finding;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let committed = files::read_if_present(&root.join(PAGE))?.unwrap_or_default();
    let fresh = render(&chapters());
    if committed == fresh {
        return Ok(Vec::new());
    }
    let same = committed.lines().zip(fresh.lines()).take_while(|(old, new)| old == new).count();
    Ok(vec![Finding::new(PAGE, same + 1, "differs from the settings; run `cargo xtask update`")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    #[test]
    fn a_missing_or_stale_page_is_found() {
        let fresh = render(&chapters());
        let tree = Tree::new(&[]);
        assert_eq!(check(tree.root()).unwrap().len(), 1);
        tree.put(PAGE, &fresh);
        assert_eq!(check(tree.root()).unwrap(), []);
        tree.put(PAGE, &fresh.replacen("# Configuration\n\n", "# Configuration\n\nMine.\n", 1));
        assert_eq!(
            shown(&check(tree.root()).unwrap()),
            ["docs/configuration.md:3: differs from the settings; run `cargo xtask update`"]
        );
    }
}
