//! Circles between the modules of a crate: files that use each other, so that none of them can be read, moved or taken away alone.
//!
//! Read from the text: a file uses another one where a `use` or a path in its code leads to a name that the other one defines, also
//! through the `use` lines of modules between them. Declarations (`mod`), `pub use` of what the file itself does not go on to use, and
//! what is only there for tests do not count.
//!
//! Limits: a method that is called is not seen, nor what `#[path]` or a `*` leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::source::{Import, Source};

/// Paths that lead to themselves end here.
const STEPS_MAX: usize = 16;

/// The circles among the modules of the crate that begins with the file `root`, each with its files in order.
pub fn circles(root: &Path) -> Result<Vec<BTreeSet<PathBuf>>> {
    let mut modules = Modules::default();
    modules.add(root, root.parent().unwrap_or(root), None)?;
    let uses: Vec<BTreeSet<usize>> = (0..modules.0.len()).map(|module| modules.used_by(module)).collect();
    let reached: Vec<BTreeSet<usize>> = (0..uses.len()).map(|module| reached_from(module, &uses)).collect();
    let circle_of = |module: usize| -> BTreeSet<PathBuf> {
        let round = reached[module].iter().filter(|other| reached[**other].contains(&module));
        round.map(|other| modules.0[*other].file.clone()).collect()
    };
    let circles: BTreeSet<_> = (0..uses.len()).map(circle_of).filter(|files| files.len() > 1).collect();
    Ok(circles.into_iter().collect())
}

fn reached_from(module: usize, uses: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![module]);
    while let Some(module) = open.pop() {
        open.extend(uses[module].iter().filter(|used| reached.insert(**used)));
    }
    reached
}

/// The modules of one crate, the first of them its root.
#[derive(Default)]
struct Modules(Vec<Module>);

struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    source: Source,
}

/// What a path leads to.
#[derive(Clone, Copy)]
enum Place {
    /// A module as a whole: named to be gone on from.
    Module,
    /// Something that this module defines.
    Within(usize),
}

impl Modules {
    /// Reads the module in `file`, and those that it declares, which are in `folder`.
    fn add(&mut self, file: &Path, folder: &Path, parent: Option<usize>) -> Result<usize> {
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let source = Source::read(&text).with_context(|| format!("reading {}", file.display()))?;
        let names = source.modules.clone();
        let module = self.0.len();
        self.0.push(Module { file: file.to_owned(), parent, children: BTreeMap::new(), source });
        for name in names {
            let below = folder.join(&name);
            let files = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
            if let Some(file) = files.iter().find(|file| file.exists()) {
                let child = self.add(file, &below, Some(module))?;
                self.0[module].children.insert(name, child);
            }
        }
        Ok(module)
    }

    /// The modules of which this one uses something.
    fn used_by(&self, module: usize) -> BTreeSet<usize> {
        let source = &self.0[module].source;
        let imports = source.imports.iter().filter(|import| !import.is_handed_on).map(|import| &import.path);
        imports
            .chain(&source.mentions)
            .filter_map(|path| match self.place(module, path, STEPS_MAX)? {
                Place::Within(used) => (used != module).then_some(used),
                Place::Module => None,
            })
            .collect()
    }

    /// What `path` leads to, seen from `module`: nothing if out of the crate, or to something that `module` itself defines.
    fn place(&self, module: usize, path: &[String], steps: usize) -> Option<Place> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.place_in(0, rest, steps),
            "self" => self.place_in(module, rest, steps),
            "super" if rest.first().is_some_and(|word| word == "super") => {
                self.place(self.0[module].parent?, rest, steps)
            }
            "super" => self.place_in(self.0[module].parent?, rest, steps),
            name if self.0[module].children.contains_key(name) || self.import(module, name).is_some() => {
                self.place_in(module, path, steps)
            }
            _ => None,
        }
    }

    /// What `path` leads to within `module`.
    fn place_in(&self, module: usize, path: &[String], steps: usize) -> Option<Place> {
        let Some((name, rest)) = path.split_first() else { return Some(Place::Module) };
        let child = self.0[module].children.get(name.as_str());
        match (self.import(module, name), child) {
            (Some(import), None) => self.place(module, &[&import.path, rest].concat(), steps),
            // A function may have the name of a module.
            (Some(import), Some(_)) if rest.is_empty() => self.place(module, &import.path, steps),
            (_, Some(child)) => self.place_in(*child, rest, steps),
            (None, None) => Some(Place::Within(module)),
        }
    }

    fn import(&self, module: usize, name: &str) -> Option<&Import> {
        self.0[module].source.imports.iter().find(|import| import.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the files in each circle of a crate of these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let name = |file: PathBuf| file.strip_prefix(folder.path()).unwrap().display().to_string();
        let circles = circles(&folder.path().join("lib.rs")).unwrap();
        circles.into_iter().map(|circle| circle.into_iter().map(name).collect()).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let root = ("lib.rs", "mod a; mod b; mod c;");
        let (there, back) =
            (("a.rs", "use crate::b::g; pub fn f() {}"), ("b.rs", "use super::a::{self, f};"));
        assert_eq!(circles_of(&[root, there, back, ("c.rs", "use crate::a::f;")]), [["a.rs", "b.rs"]]);
        let further = ("b.rs", "fn g() { crate::c::h() }");
        let round = ("c.rs", "use super::a; fn h() { vec![a::f()]; }");
        assert_eq!(circles_of(&[root, there, further, round]), [["a.rs", "b.rs", "c.rs"]]);
        let only_named = ("b.rs", "use super::a;");
        assert!(circles_of(&[root, there, only_named, ("c.rs", "")]).is_empty());
    }

    #[test]
    fn what_is_handed_on_leads_to_the_file_that_defines_it() {
        let root = ("lib.rs", "mod a; mod b; pub use b::G as H;");
        let a = ("a.rs", "use crate::H; pub struct F;");
        assert!(
            circles_of(&[root, a, ("b/mod.rs", "mod d; pub use d::G;"), ("b/d.rs", "pub struct G;")])
                .is_empty()
        );
        let back = ("b/d.rs", "pub struct G(crate::a::F);");
        assert_eq!(circles_of(&[root, a, ("b/mod.rs", "mod d; pub use d::G;"), back]), [["a.rs", "b/d.rs"]]);
    }

    #[test]
    fn a_parent_counts_where_it_uses_what_it_declares() {
        let child = ("a.rs", "use super::Kind;");
        assert!(circles_of(&[("lib.rs", "mod a; pub use a::f; pub enum Kind {}"), child]).is_empty());
        let uses = ("lib.rs", "mod a; pub use a::f; pub enum Kind {} fn g() { f() }");
        assert_eq!(circles_of(&[uses, child]), [["a.rs", "lib.rs"]]);
    }

    #[test]
    fn tests_and_texts_do_not_count() {
        let root = ("lib.rs", "mod a; mod b; mod g;");
        let a = ("a.rs", "use crate::b::g; // use crate::c::h;\n");
        let b = (
            "b.rs",
            "/// crate::a::f()\n#[cfg(test)] use crate::a::f; #[cfg(test)] mod tests { use crate::a; a::f() }",
        );
        assert!(circles_of(&[root, a, b, ("g.rs", "")]).is_empty());
        let text = ("b.rs", "fn g() { let g = \"crate::a::f\"; }");
        assert!(circles_of(&[root, a, text, ("g.rs", "")]).is_empty());
    }
}
